import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const HAS_PROC = existsSync('/proc/self/cmdline');

/** commandOf answers the command line of a process; empty when there is none, or none that runs. Ids are used again: compare before a kill. */
export function commandOf(pid: number): string {
  try {
    if (HAS_PROC) return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
  } catch {
    return '';
  }
}

/** isAlive says whether a process with that id runs. One that has ended and that its parent has not asked about yet does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return !HAS_PROC || commandOf(pid) !== '';
}
