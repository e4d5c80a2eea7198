import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * Packs each published package and looks at what a user gets: every entry point of `exports` is in it and loads, no spec is, the license is, and
 * source maps carry their sources, which are not in it. Run after the build.
 */
const ROOT = resolve(__dirname, '..');
const PACKAGES = ['libs/kernel', 'migrations', 'libs/queue'];
const SPEC = /\.(spec|int-spec|proc-spec|e2e-spec)\.|\.tsbuildinfo$|^src\//;

interface Manifest {
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly name: string;
}

function run(command: string, args: readonly string[], cwd: string): string {
  const done = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`${command} ${args.join(' ')} in ${cwd}:\n${done.stdout}${done.stderr}`);
  return done.stdout;
}

/** unpack puts a package where node finds it before the workspace's own, and answers the names of its files. */
function unpack(folder: string, place: string): string[] {
  const [packed] = JSON.parse(
    run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', place], join(ROOT, folder)),
  ) as {
    filename: string;
    files: { path: string }[];
  }[];
  if (!packed) throw new Error(`npm packed nothing of ${folder}.`);
  const target = join(place, 'node_modules', nameOf(folder));
  mkdirSync(target, { recursive: true });
  run('tar', ['-xzf', join(place, packed.filename), '-C', target, '--strip-components=1'], place);
  return packed.files.map(({ path }) => path);
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Manifest;
}

function nameOf(folder: string): string {
  return manifestOf(folder).name;
}

function problemsOf(folder: string, files: readonly string[], place: string): string[] {
  const { exports, name } = manifestOf(folder);
  const problems = files.filter((file) => SPEC.test(file)).map((file) => `${name} ships ${file}`);
  if (!files.includes('LICENSE')) problems.push(`${name} has no LICENSE`);
  const maps = files.filter((file) => file.endsWith('.js.map'));
  for (const file of maps) {
    const map = JSON.parse(readFileSync(join(place, 'node_modules', name, file), 'utf8')) as {
      sourcesContent?: unknown;
    };
    if (!Array.isArray(map.sourcesContent)) problems.push(`${name}: ${file} points at a source that is not there`);
  }
  for (const [entry, targets] of Object.entries(exports)) {
    if (typeof targets === 'string') continue;
    for (const condition of ['types', 'default']) {
      const target = targets[condition] ?? '';
      if (!existsSync(join(place, 'node_modules', name, target)))
        problems.push(`${name}: ${entry} has no ${condition} (${target})`);
    }
    const specifier = entry === '.' ? name : `${name}/${entry.slice(2)}`;
    const loaded = spawnSync(process.execPath, ['-e', `require('reflect-metadata'); require('${specifier}')`], {
      cwd: place,
      encoding: 'utf8',
    });
    if (loaded.status !== 0) problems.push(`${specifier} does not load: ${loaded.stderr}`);
  }
  return problems;
}

// Below the workspace, so that the packages' peers are found.
mkdirSync(join(ROOT, 'node_modules', '.cache'), { recursive: true });
const place = mkdtempSync(join(ROOT, 'node_modules', '.cache', 'holdfast-pack-'));
try {
  const files = PACKAGES.map((folder) => unpack(folder, place));
  const problems = PACKAGES.flatMap((folder, i) => problemsOf(folder, files[i] ?? [], place));
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else console.log(`${PACKAGES.length} packages are complete.`);
} finally {
  rmSync(place, { force: true, recursive: true });
}
