import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');

/** SuiteRun is the suite, or a part of it, on something else than what runs by itself. */
export interface SuiteRun {
  readonly env: Readonly<Record<string, string>>;
  /** ignored are patterns of paths to leave out. */
  readonly ignored: readonly string[];
  /** node is the program. Default: the one that runs this. */
  readonly node?: string;
  /** paths are patterns of the paths to run. Default: all. */
  readonly paths?: readonly string[];
}

/** runJest runs it and rejects when a test fails; `what` names it then. */
export async function runJest({ env, ignored, node, paths = [] }: SuiteRun, what: string): Promise<void> {
  // Behind an option that takes a list, paths would be more of the list.
  const ignore = ignored.map((pattern) => `--testPathIgnorePatterns=${pattern}`);
  const jest = [join(ROOT, 'node_modules/jest/bin/jest.js'), '--ci', ...paths, ...ignore];
  const child = spawn(node ?? process.execPath, jest, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`The suite failed on ${what}.`);
}
