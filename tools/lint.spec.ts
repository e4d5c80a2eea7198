import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

interface Snippet {
  readonly code: string;
  readonly file: string;
  readonly needsTypes?: boolean;
}

/** One process lints them all: ESLint is an ES module, which a test file cannot load. */
function lint(snippets: readonly Snippet[]): string[][] {
  const input = JSON.stringify(snippets);
  const done = spawnSync(process.execPath, [join(__dirname, 'lint/lint-snippets.mjs')], {
    encoding: 'utf8',
    input,
    timeout: 120_000,
  });
  if (done.status !== 0) throw new Error(done.stderr);
  return JSON.parse(done.stdout) as string[][];
}

const PROJECTS = '@nx/enforce-module-boundaries';
const ROOMS = 'holdfast/room-imports';
const imports = (file: string, specifier: string): Snippet => ({ code: `export * from '${specifier}';\n`, file });

/** What must fail: title, snippet, the rule that says so. */
const REFUSED: [string, Snippet, string][] = [
  ['the queue imports contracts', imports('libs/queue/src/module/x.ts', '@holdfast/contracts'), PROJECTS],
  ['the queue imports the testbed', imports('libs/queue/src/testing/x.ts', '@holdfast/testing'), PROJECTS],
  ['the kernel imports the queue', imports('libs/kernel/src/sql/x.ts', '@holdfast/queue'), PROJECTS],
  ['the kernel imports the migrations', imports('libs/kernel/src/migrate/x.ts', '@holdfast/migrations'), PROJECTS],
  ['the queue imports the hub', imports('libs/queue/src/module/x.ts', '@holdfast/hub'), PROJECTS],
  [
    'the hub imports the migrations of the queue',
    imports('libs/hub/src/database/x.ts', '@holdfast/migrations'),
    PROJECTS,
  ],
  ['a room of the hub imports a higher one', imports('libs/hub/src/configuration/x.ts', '../database/y.js'), ROOMS],
  ['migrations import the queue', imports('migrations/src/x.ts', '@holdfast/queue/define'), PROJECTS],
  ['contracts import the kernel', imports('libs/contracts/src/x.ts', '@holdfast/kernel'), PROJECTS],
  ['contracts import the face of the queue', imports('libs/contracts/src/x.ts', '@holdfast/queue'), ROOMS],
  ['an app imports another app', imports('apps/api/src/x.ts', '../../worker/src/y.js'), PROJECTS],
  ['an app imports the testbed', imports('apps/api/src/x.ts', '@holdfast/testing'), PROJECTS],
  [
    'an app reaches into a lib by a path',
    imports('apps/api/src/x.ts', '../../../libs/queue/src/client/y.js'),
    PROJECTS,
  ],

  ['the domain imports a port', imports('libs/queue/src/domain/x.ts', '../ports/y.js'), ROOMS],
  ['the domain imports pg', imports('libs/queue/src/domain/x.ts', 'pg'), ROOMS],
  ['a port imports the postgres room', imports('libs/queue/src/ports/x.ts', '../postgres/y.js'), ROOMS],
  ['the client imports the runner', imports('libs/queue/src/client/x.ts', '../runner/y.js'), ROOMS],
  ['the runner imports the postgres room', imports('libs/queue/src/runner/x.ts', '../postgres/y.js'), ROOMS],
  ['the runner imports Nest', imports('libs/queue/src/runner/x.ts', '@nestjs/common'), ROOMS],
  ['the runner imports an explorer', imports('libs/queue/src/runner/x.ts', '../handlers/y.explorer.js'), ROOMS],
  ['the postgres room imports the runner', imports('libs/queue/src/postgres/x.ts', '../runner/y.js'), ROOMS],
  ['health imports the postgres room', imports('libs/queue/src/health/x.ts', '../postgres/y.js'), ROOMS],
  ['a room imports the module', imports('libs/queue/src/runner/x.ts', '../module/y.js'), ROOMS],
  ['a room imports its own index', imports('libs/queue/src/module/x.ts', '../index.js'), ROOMS],
  ['a room imports its own package', imports('libs/queue/src/module/x.ts', '@holdfast/queue'), ROOMS],
  ['the entry point of definitions imports a port', imports('libs/queue/src/define.ts', './ports/y.js'), ROOMS],
  ['the plain entry point imports the module', imports('libs/queue/src/core.ts', './module/y.js'), ROOMS],
  ['the queue imports typeorm outside its module', imports('libs/queue/src/postgres/x.ts', 'typeorm'), ROOMS],
  ['the queue imports pg outside its adapters', imports('libs/queue/src/runner/x.ts', 'pg'), ROOMS],
  ['the kernel imports typeorm outside its two rooms', imports('libs/kernel/src/migrate/x.ts', 'typeorm'), ROOMS],
  ['a pure room of the kernel imports pg', imports('libs/kernel/src/errors/x.ts', 'pg'), ROOMS],
  ['a room of the kernel imports a higher one', imports('libs/kernel/src/sql/x.ts', '../transaction/y.js'), ROOMS],
  [
    'a type import counts',
    { code: "export type X = import('typeorm').DataSource;\n", file: 'libs/queue/src/runner/x.ts' },
    ROOMS,
  ],
  [
    'an import type counts',
    { code: "import type { Pool } from 'pg';\nexport type X = Pool;\n", file: 'libs/queue/src/ports/x.ts' },
    ROOMS,
  ],
  [
    'a dynamic import counts',
    { code: "export const x = import('../postgres/y.js');\n", file: 'libs/queue/src/runner/x.ts' },
    ROOMS,
  ],
  ['a room without a row', imports('libs/queue/src/helpers/x.ts', './y.js'), ROOMS],

  [
    'Reflector outside an explorer',
    {
      code: "import { Reflector } from '@nestjs/core';\nexport const x = Reflector;\n",
      file: 'libs/queue/src/handlers/x.decorator.ts',
    },
    'no-restricted-imports',
  ],
  [
    'forwardRef',
    { code: 'export const x = forwardRef(() => 1);\n', file: 'libs/queue/src/module/x.ts' },
    'no-restricted-syntax',
  ],
  [
    'a class that is a manager',
    { code: 'export class JobManager {}\n', file: 'libs/queue/src/runner/x.ts' },
    'no-restricted-syntax',
  ],
  [
    'a file of more than 300 lines',
    { code: 'export {};\n'.repeat(301), file: 'libs/queue/src/runner/x.ts' },
    'max-lines',
  ],
  ['the console in a lib', { code: "console.log('x');\n", file: 'libs/queue/src/runner/x.ts' }, 'no-console'],
  [
    'any',
    { code: 'export const x: any = 1;\n', file: 'libs/queue/src/runner/x.ts' },
    '@typescript-eslint/no-explicit-any',
  ],
  [
    'a promise nobody awaits',
    {
      code: 'export function x(): void {\n  Promise.resolve(1);\n}\n',
      file: 'libs/testing/src/wait/within.ts',
      needsTypes: true,
    },
    '@typescript-eslint/no-floating-promises',
  ],
];

/** What must pass: were the tables to refuse everything, the list above would prove nothing. */
const ALLOWED: [string, Snippet][] = [
  ['the queue imports the kernel', imports('libs/queue/src/runner/x.ts', '@holdfast/kernel')],
  ['contracts import the definitions', imports('libs/contracts/src/x.ts', '@holdfast/queue/define')],
  ['the module imports a room, Nest and TypeORM', imports('libs/queue/src/module/x.ts', '../runner/y.js')],
  ['the module imports Nest', imports('libs/queue/src/module/x.ts', '@nestjs/common')],
  [
    'the runner imports the registry of handlers',
    imports('libs/queue/src/runner/x.ts', '../handlers/job-handler.registry.js'),
  ],
  ['leadership imports pg', imports('libs/queue/src/leadership/x.ts', 'pg')],
  ['a room imports itself', imports('libs/queue/src/postgres/x.ts', './sql/y.js')],
  ['an app imports the hub', imports('apps/api/src/x.ts', '@holdfast/hub')],
  ['an app imports libs', imports('apps/worker/src/x.ts', '@holdfast/queue')],
  ['a spec of an app imports the testbed', imports('apps/worker/test/x.e2e-spec.ts', '@holdfast/testing')],
  [
    'an explorer reads with Reflector',
    { code: "export { Reflector } from '@nestjs/core';\n", file: 'libs/queue/src/handlers/x.explorer.ts' },
  ],
];

describe('the lint', () => {
  const refused = lint(REFUSED.map(([, snippet]) => snippet));
  const allowed = lint(ALLOWED.map(([, snippet]) => snippet));

  it.each(REFUSED.map(([title, , rule], i) => ({ answer: refused[i] ?? [], rule, title })))(
    'refuses: $title',
    ({ answer, rule }) => {
      expect(answer.map((line) => line.split(': ')[0])).toContain(rule);
    },
  );

  it.each(ALLOWED.map(([title], i) => ({ answer: allowed[i], title })))('allows: $title', ({ answer }) => {
    expect(answer).toEqual([]);
  });
});
