import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** isAlive says whether a process with that id exists. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** commandOf answers the command line of a process; empty when there is none, or none that can be read. Ids are used again: compare before a kill. */
export function commandOf(pid: number): string {
  try {
    if (existsSync('/proc/self/cmdline')) return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
  } catch {
    return '';
  }
}
