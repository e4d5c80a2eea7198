import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { commandOf, isAlive } from '@holdfast/testing';
import { LocalProblem } from './local.problem.js';

const STOP_WITHIN_MS = 20_000;

/**
 * clearStaleServer makes a data folder startable after a crash: it stops a server that outlived its keeper, and removes a
 * `postmaster.pid` whose id now belongs to some other program (PostgreSQL would refuse to start beside it).
 */
export async function clearStaleServer(dataFolder: string): Promise<void> {
  const file = join(dataFolder, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  if (!commandOf(pid).includes(dataFolder)) return rmSync(file, { force: true });
  process.kill(pid, 'SIGINT');
  for (const end = performance.now() + STOP_WITHIN_MS; isAlive(pid); await pause(50)) {
    if (performance.now() > end)
      throw new LocalProblem(
        `A PostgreSQL of an earlier start (process ${pid}) does not stop. End it, then start again.`,
      );
  }
}
