import { existsSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const FOLDER = join(__dirname, '..', 'peers');
const NODE = join(FOLDER, 'node_modules', '.bin', 'node');

/** peerScript answers the path of a script that runs a peer. */
export function peerScript(name: string): string {
  return join(FOLDER, name);
}

/** installPeers installs the peers and the Node they run on, once; everything that is compared runs on that Node. Answers its path. */
export function installPeers(): string {
  if (!existsSync(NODE)) {
    const done = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
      cwd: FOLDER,
      encoding: 'utf8',
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    if (done.status !== 0)
      throw new Error('The peers of the benchmark could not be installed: see the output of npm above.');
  }
  return NODE;
}
