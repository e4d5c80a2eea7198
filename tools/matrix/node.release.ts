import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { run } from '../packages/command.js';

/** THIS_NODE is the major version of the Node that runs this. */
export const THIS_NODE = process.versions.node.split('.')[0]!;

/** nodeFolder answers the folder with the program `node` of a major version, installed once by npm outside the workspace and kept for the next run. */
export async function nodeFolder(major: string): Promise<string> {
  if (major === THIS_NODE) return join(process.execPath, '..');
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const place = join(cache, 'holdfast', `node-${major}`);
  const folder = join(place, 'node_modules/node/bin');
  if (!existsSync(join(folder, 'node'))) {
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'package.json'), '{ "private": true }\n');
    const quiet = ['--no-audit', '--no-fund', '--no-package-lock', '--prefer-offline', '--loglevel=error'];
    await run('npm', ['install', ...quiet, `node@${major}`], { cwd: place });
  }
  const told = (await run(join(folder, 'node'), ['--version'], { cwd: place })).trim();
  if (!told.startsWith(`v${major}.`)) throw new Error(`Node ${major} was wanted and is ${told}.`);
  return folder;
}
