import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** ServerUser is the account PostgreSQL runs under when this process is root, which PostgreSQL refuses to be. */
export interface ServerUser {
  readonly gid: number;
  readonly uid: number;
}

/** serverUser answers the account for the server: undefined (our own) unless we are root, else `postgres` where it exists, else `nobody`. */
export function serverUser(): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const fields = accounts.find((line) => line.startsWith(`${name}:`))?.split(':');
    if (fields) return { gid: Number(fields[3]), uid: Number(fields[2]) };
  }
  throw new Error(
    'PostgreSQL refuses to run as root, and this system has neither a user `postgres` nor `nobody`. Create one of them.',
  );
}

/** reachable says whether the server's account can enter a folder: every folder above it must let others pass. */
export function reachable(folder: string, user: ServerUser | undefined): boolean {
  if (!user) return true;
  for (let at = resolve(folder); ; at = dirname(at)) {
    const stats = statSync(at, { throwIfNoEntry: false });
    if (stats && !passable(stats, user)) return false;
    if (at === dirname(at)) return true;
  }
}

function passable(stats: { gid: number; mode: number; uid: number }, user: ServerUser): boolean {
  if (stats.uid === user.uid) return (stats.mode & 0o100) !== 0;
  if (stats.gid === user.gid) return (stats.mode & 0o010) !== 0;
  return (stats.mode & 0o001) !== 0;
}
