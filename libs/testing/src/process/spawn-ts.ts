import { fork, type ChildProcess } from 'node:child_process';
import { join, resolve } from 'node:path';
import { SpawnedProcess } from './spawned.process.js';

/** SpawnTsOptions are what a child process is given besides its file. */
export interface SpawnTsOptions {
  readonly args?: readonly string[];
  /** env is laid over the environment of the test. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** nodeArgs go to node itself, such as `--max-old-space-size=64`. */
  readonly nodeArgs?: readonly string[];
}

const ROOT = resolve(__dirname, '../../../..');
const children = new Set<ChildProcess>();

/**
 * spawnTs runs a TypeScript file of the workspace (a path from its root, or absolute) as a process of its own.
 *
 * It ends with the test file that started it, at the latest: also when that is killed.
 */
export function spawnTs(file: string, options: SpawnTsOptions = {}): SpawnedProcess {
  const child = fork(resolve(ROOT, file), [...(options.args ?? [])], {
    cwd: ROOT,
    env: { ...process.env, HOLDFAST_PARENT_GONE_GRACE_MS: '1000', ...options.env },
    execArgv: [
      ...[
        '-C',
        '@holdfast/source',
        '-r',
        join(ROOT, 'tools/register.cjs'),
        '-r',
        join(ROOT, 'tools/end-with-parent.cjs'),
      ],
      ...(options.nodeArgs ?? []),
    ],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  children.add(child);
  child.once('close', () => children.delete(child));
  return new SpawnedProcess(child, file);
}

if (typeof afterAll === 'function') {
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL');
  });
}
