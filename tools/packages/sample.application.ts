import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Archive } from './archives.js';
import { attempt, run } from './command.js';
import type { SampleCheck, SampleVariant } from './sample.variants.js';

const SAMPLES = join(__dirname, 'samples');

const FLAGS: Readonly<Record<SampleCheck, readonly string[]>> = {
  bundler: ['--module', 'esnext', '--moduleResolution', 'bundler', '--noEmit'],
  commonjs: [],
  module: [],
  node10: ['--module', 'commonjs', '--moduleResolution', 'node10', '--noEmit'],
};

/** ModuleFormat is what the application's own code is: `require` or `import`. */
export type ModuleFormat = 'commonjs' | 'module';

/** SampleApplication is an application outside the workspace that has the packages installed. */
export class SampleApplication {
  constructor(
    readonly folder: string,
    private readonly variant: SampleVariant,
  ) {}

  /**
   * compile builds the sample with every check on, also that of the declarations of all packages, and answers which other packages' declarations
   * have errors of their own. It rejects with errors in the sample or in ours.
   */
  async compile(check: SampleCheck): Promise<string[]> {
    const format = check === 'node10' || check === 'commonjs' ? 'commonjs' : 'module';
    if (check === format) this.lay(format);
    const args = [join(this.packageFolder('typescript'), 'bin/tsc'), '-p', format, '--pretty', 'false'];
    const { code, text } = await attempt(process.execPath, [...args, ...FLAGS[check]], { cwd: this.folder });
    const errors = text.split('\n').filter((line) => /\): error TS|^error TS/.test(line));
    const foreign = (line: string) => /^node_modules\/(?!@holdfast\/)((?:@[^/]+\/)?[^/]+)/.exec(line)?.[1];
    const own = errors.filter((line) => foreign(line) === undefined);
    if (own.length > 0 || (code !== 0 && errors.length === 0))
      throw new Error(`${check}: it does not compile.\n${text}`);
    return [...new Set(errors.map((line) => foreign(line)!))];
  }

  /** install puts the packages and the variant's dependencies into an empty folder, by npm. */
  async install(archives: readonly Archive[]): Promise<void> {
    mkdirSync(this.folder);
    const ours = archives.map(({ file, manifest }) => [manifest.name, `file:${relative(this.folder, file)}`]);
    const dependencies = { ...this.variant.dependencies, ...(Object.fromEntries(ours) as Record<string, string>) };
    this.write(join(this.folder, 'package.json'), { dependencies, private: true });
    const quiet = ['--no-audit', '--no-fund', '--no-package-lock', '--prefer-offline', '--loglevel=error'];
    await run('npm', ['install', ...quiet], { cwd: this.folder });
    const brought = this.variant.absent.filter((name) => existsSync(this.packageFolder(name)));
    if (brought.length > 0) throw new Error(`${brought.join(', ')} came along, which nobody asked for.`);
  }

  /** load loads the entry points by `require` and, in another process, by `import`; it rejects when one does not load. */
  async load(entries: readonly string[]): Promise<void> {
    const required = entries.map((entry) => `require('${entry}');`).join(' ');
    const imported = entries.map((entry) => `await import('${entry}');`).join(' ');
    await run(process.execPath, ['-e', required], { cwd: this.folder });
    await run(process.execPath, ['--input-type=module', '-e', imported], { cwd: this.folder });
  }

  packageFolder(name: string): string {
    return join(this.folder, 'node_modules', name);
  }

  /** start runs what was compiled until it ends by itself, and answers what it printed. */
  async start(format: ModuleFormat, databaseUrl: string): Promise<string> {
    const env = { DATABASE_URL: databaseUrl };
    return run(process.execPath, ['dist/main.js'], { cwd: join(this.folder, format), deadlineMs: 90_000, env });
  }

  private lay(format: ModuleFormat): void {
    const folder = join(this.folder, format);
    mkdirSync(folder);
    cpSync(join(SAMPLES, this.variant.sample), join(folder, 'src'), { recursive: true });
    cpSync(join(SAMPLES, 'tsconfig.consumer.json'), join(folder, 'tsconfig.json'));
    this.write(join(folder, 'package.json'), { type: format });
  }

  private write(file: string, content: object): void {
    writeFileSync(file, `${JSON.stringify(content, undefined, 2)}\n`);
  }
}
