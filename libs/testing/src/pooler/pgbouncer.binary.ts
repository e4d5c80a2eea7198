import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Distributions put it where only root looks. */
const BESIDES = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin'];

/** pgbouncerBinary answers the path of PgBouncer: PGBOUNCER, else one on the PATH. Throws where there is none, and says how to get it. */
export function pgbouncerBinary(): string {
  const named = process.env.PGBOUNCER;
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...BESIDES].filter((folder) => folder !== '');
  const found = (named ? [named] : folders.map((folder) => join(folder, 'pgbouncer'))).find(executable);
  if (found) return found;
  throw new Error(
    named
      ? `PGBOUNCER names ${named}, which cannot be run.`
      : 'This test needs PgBouncer, and there is none on this machine: `apt-get install pgbouncer`, `brew install pgbouncer`, or set PGBOUNCER to its path.',
  );
}

function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
