import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandOf, isAlive } from '@holdfast/testing';
import { LocalProblem } from './local.problem.js';

const TRIES = 5;

/** StartLock lets one local start at a time use a data folder. The lock of a start that was killed is taken over. */
export class StartLock {
  private constructor(private readonly file: string) {}

  /** take answers the lock, or throws LocalProblem while another start holds it. */
  static take(folder: string): StartLock {
    const file = join(folder, 'start.pid');
    for (let tries = 0; tries < TRIES; tries++) {
      try {
        writeFileSync(file, String(process.pid), { flag: 'wx' });
        return new StartLock(file);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const holder = holderOf(file);
      if (holder !== undefined) {
        throw new LocalProblem(
          `Holdfast already runs from this folder (process ${holder}). Stop it with Ctrl-C, or use it: its URLs stand in its output.`,
        );
      }
      takeAway(file);
    }
    throw new LocalProblem(`Several starts are taking ${file} from each other. Start one.`);
  }

  release(): void {
    rmSync(this.file, { force: true });
  }
}

/** takeAway removes a lock that nobody holds; should another start have taken the lock in that moment, it gets it back. */
function takeAway(file: string): void {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
    if (holderOf(aside) !== undefined) linkSync(aside, file);
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** holderOf answers the living start behind a lock file; a process that only got the same id is none. */
function holderOf(file: string): number | undefined {
  const pid = Number(read(file));
  if (!pid || pid === process.pid || !isAlive(pid)) return undefined;
  return commandOf(pid).includes('local.ts') ? pid : undefined;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
