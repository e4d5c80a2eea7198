import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const ROOT = join(__dirname, '../../..');
const PACKAGE = 'node_modules/@holdfast/kernel';

/** The two entry points that hold state; whoever loads the one may meet the other of another copy. */
const PAIRS = [
  ['@holdfast/kernel', '@holdfast/kernel'],
  ['@holdfast/kernel/typeorm', '@holdfast/kernel'],
  ['@holdfast/kernel', '@holdfast/kernel/typeorm'],
] as const;

describe('two copies of the kernel in one process', () => {
  let app: string;
  const top = () => join(app, PACKAGE);
  const nested = () => join(app, 'node_modules/library', PACKAGE);

  beforeAll(() => {
    app = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-copies-')));
    for (const copy of [top(), nested()]) {
      mkdirSync(dirname(copy), { recursive: true });
      for (const part of ['package.json', 'src'])
        cpSync(join(ROOT, 'libs/kernel', part), join(copy, part), { recursive: true });
    }
  });
  afterAll(() => rmSync(app, { force: true, recursive: true }));

  /** Loads entry points in turn, each as a file in `folders` would, and answers what was said. */
  function load(entries: readonly (readonly [folder: string, entry: string])[]): string {
    const calls = entries.map(
      ([folder, entry]) => `createRequire(${JSON.stringify(join(folder, 'file.js'))})(${JSON.stringify(entry)});`,
    );
    const program = `import { createRequire } from 'node:module'; ${calls.join(' ')} console.log('loaded');`;
    writeFileSync(join(app, 'program.mjs'), program);
    const args = ['-C', '@holdfast/source', '-r', join(ROOT, 'tools/register.cjs'), join(app, 'program.mjs')];
    const env = { ...process.env, NODE_PATH: join(ROOT, 'node_modules') };
    const done = spawnSync(process.execPath, args, { cwd: app, encoding: 'utf8', env });
    return `${done.stdout}${done.stderr}`;
  }

  it.each(PAIRS)('are refused with both paths: %s, then %s of the other', (first, second) => {
    const said = load([
      [app, first],
      [join(app, 'node_modules/library'), second],
    ]);
    expect(said).toContain('SecondKernelError');
    expect(said).toContain(`0.1.0 at ${top()}`);
    expect(said).toContain(`0.1.0 at ${nested()}`);
    expect(said).toContain('npm ls @holdfast/kernel');
    expect(said).not.toContain('loaded\n');
  });

  it('are no matter to the entry point of definitions, which holds no state', () => {
    const library = join(app, 'node_modules/library');
    expect(
      load([
        [app, '@holdfast/kernel/pure'],
        [library, '@holdfast/kernel/pure'],
        [library, '@holdfast/kernel'],
      ]),
    ).toBe('loaded\n');
  });

  it('are not what one copy is that is loaded by both its entry points, or through a link', () => {
    const linked = join(app, 'node_modules/linked');
    mkdirSync(join(linked, dirname(PACKAGE)), { recursive: true });
    symlinkSync(top(), join(linked, PACKAGE));
    expect(
      load([
        [app, '@holdfast/kernel'],
        [linked, '@holdfast/kernel/typeorm'],
        [linked, '@holdfast/kernel'],
      ]),
    ).toBe('loaded\n');
  });
});
