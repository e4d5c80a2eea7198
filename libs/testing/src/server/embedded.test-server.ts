import { appendFileSync, chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandOf, isAlive } from '../process/process-facts.js';
import { EmbeddedServer } from './embedded/embedded.server.js';
import { reachable, serverUser } from './embedded/server-user.js';
import { freePort } from './free-port.js';
import { serverPrograms, serverSettings, type TestServer } from './test-server.js';

const PREFIX = 'holdfast-test-';

/** startEmbeddedTestServer starts a server in a folder of its own, which goes with it. */
export async function startEmbeddedTestServer(): Promise<TestServer> {
  const place = [tmpdir(), '/var/tmp', '/tmp'].find((folder) => reachable(folder, serverUser())) ?? tmpdir();
  sweep(place);
  const folder = mkdtempSync(join(place, `${PREFIX}${process.pid}-`));
  chmodSync(folder, 0o755);
  const logFile = join(folder, 'server.log');
  const server = new EmbeddedServer({
    dataFolder: join(folder, 'data'),
    onLog: (text) => appendFileSync(logFile, text),
    password: 'holdfast',
    port: await freePort(),
    programs: serverPrograms(),
    settings: serverSettings(),
  });
  const remove = () => rmSync(folder, { force: true, recursive: true });
  try {
    await server.start();
  } catch (error) {
    remove();
    throw error;
  }
  const stop = async () => {
    await server.stop();
    remove();
  };
  return { kind: 'embedded', logFile, stop, url: server.url };
}

/** sweep ends what a run that was killed together with its keeper has left: its server and its folder. */
function sweep(place: string): void {
  for (const name of readdirSync(place).filter((entry) => entry.startsWith(PREFIX))) {
    const keeper = Number(name.slice(PREFIX.length).split('-')[0]);
    if (!keeper || isAlive(keeper)) continue;
    try {
      const postmaster = Number(readFileSync(join(place, name, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
      if (commandOf(postmaster).includes(join(place, name))) process.kill(postmaster, 'SIGQUIT');
    } catch {
      // No server is left, only its folder.
    }
    rmSync(join(place, name), { force: true, maxRetries: 5, recursive: true, retryDelay: 200 });
  }
}
