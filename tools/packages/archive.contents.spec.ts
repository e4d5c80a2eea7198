import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { contentProblems, entriesOf } from './archive.contents.js';
import type { Archive } from './archives.js';

const SOUND = {
  LICENSE: 'MIT',
  'README.md': '# lib',
  'dist/index.d.ts': "import type { Pool } from 'pg';\nexport * from './core.js';",
  'dist/index.js': 'const fs = require("node:fs"); require("@scope/kernel/pure");',
  'dist/index.js.map': '{ "sourcesContent": [""] }',
};

describe('what a package contains', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-contents-'));
  });
  afterEach(() => rmSync(folder, { force: true, recursive: true }));

  function archive(changes: Record<string, string | undefined> = {}, exports: Archive['manifest']['exports'] = {}) {
    const contents = Object.entries({ ...SOUND, ...changes }).filter(([, text]) => text !== undefined);
    for (const [file, text] of contents) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    const peerDependencies = { '@scope/kernel': '^1', pg: '^8' };
    const entries = { '.': { types: './dist/index.d.ts', default: './dist/index.js' }, ...exports };
    const manifest = { exports: entries, name: '@scope/lib', peerDependencies, version: '1.0.0' };
    return { file: 'lib.tgz', files: contents.map(([file]) => file), manifest };
  }

  it('is in order', () => {
    expect(contentProblems(archive(), folder)).toEqual([]);
    expect(
      entriesOf(archive({}, { './core': { default: './dist/core.js' }, './package.json': './package.json' })),
    ).toEqual(['@scope/lib', '@scope/lib/core']);
  });

  it.each([
    ['a spec', { 'dist/index.spec.js': '' }, 'ships dist/index.spec.js'],
    ['no license', { LICENSE: undefined }, 'has no LICENSE'],
    ['an entry without its types', { 'dist/index.d.ts': undefined }, '. has no types'],
    ['a map without sources', { 'dist/index.js.map': '{}' }, 'dist/index.js.map points at a source that is not there'],
    ['code that needs another package', { 'dist/a.js': 'require("zod")' }, 'dist/a.js imports zod'],
    ['code with an import for its effect', { 'dist/a.js': "import 'zod/v4';" }, 'dist/a.js imports zod'],
    [
      'types of another package',
      { 'dist/a.d.ts': "x: import('@nestjs/common').Type" },
      'dist/a.d.ts imports @nestjs/common',
    ],
  ])('is not, with %s', (_, changes, problem) => {
    const problems = contentProblems(archive(changes), folder);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`@scope/lib: ${problem}`);
  });
});
