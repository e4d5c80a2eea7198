import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import type { Archive } from './archives.js';

const NOT_SHIPPED = /\.(spec|int-spec|proc-spec|e2e-spec)\.|\.tsbuildinfo$|^src\//;
const SPECIFIER = /(?:\bfrom|\brequire\(|\bimport\(|^import) ?['"]([^.'"][^'"]*)['"]/gm;
const BUILT_IN = new Set(builtinModules);

/**
 * contentProblems looks at what a user of a package gets, installed in `folder`: the files that belong to it and no others, entry points that
 * exist, source maps with their sources, and nothing imported, by code or by declarations, that its package.json does not name.
 */
export function contentProblems({ files, manifest }: Archive, folder: string): string[] {
  const problems = files.filter((file) => NOT_SHIPPED.test(file)).map((file) => `ships ${file}`);
  for (const file of ['LICENSE', 'README.md']) if (!files.includes(file)) problems.push(`has no ${file}`);
  for (const [entry, targets] of Object.entries(manifest.exports)) {
    if (typeof targets === 'string') continue;
    for (const condition of ['types', 'default'])
      if (!files.includes((targets[condition] ?? '').replace('./', ''))) problems.push(`${entry} has no ${condition}`);
  }
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  for (const file of files.filter((name) => name.endsWith('.js.map'))) {
    const { sourcesContent } = JSON.parse(read(file)) as { sourcesContent?: unknown };
    if (!Array.isArray(sourcesContent)) problems.push(`${file} points at a source that is not there`);
  }
  const named = new Set([manifest.name, ...Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })]);
  for (const file of files.filter((name) => /\.(js|d\.ts)$/.test(name)))
    for (const [, specifier] of read(file)
      .replaceAll(/^\s*\*.*$/gm, '')
      .matchAll(SPECIFIER)) {
      const name = packageOf(specifier!);
      if (!named.has(name) && !BUILT_IN.has(name))
        problems.push(`${file} imports ${name}, which package.json does not name`);
    }
  return problems.map((problem) => `${manifest.name}: ${problem}`);
}

/** entriesOf answers the specifiers under which a package is imported. */
export function entriesOf({ manifest }: Archive): string[] {
  const entries = Object.entries(manifest.exports).filter(([, targets]) => typeof targets !== 'string');
  return entries.map(([entry]) => (entry === '.' ? manifest.name : `${manifest.name}/${entry.slice(2)}`));
}

function packageOf(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier.slice(5);
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
