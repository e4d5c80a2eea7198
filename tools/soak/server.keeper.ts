import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedServer, freePort, reachable, serverUser } from '@holdfast/testing';

/** A crash of the server must lose nothing that was committed: commits wait for the log, which the operating system keeps. */
const SETTINGS = { fsync: 'off', max_connections: '150', track_commit_timestamp: 'on' };

/** The keeper holds the soak's server and restarts it when told so. It ends with the soak, however that ends: then their channel closes. */
async function main(): Promise<void> {
  const released = new Promise<void>((resolve) => process.once('disconnect', resolve));
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => undefined);
  const place = [tmpdir(), '/var/tmp', '/tmp'].find((folder) => reachable(folder, serverUser())) ?? tmpdir();
  const folder = mkdtempSync(join(place, 'holdfast-soak-'));
  chmodSync(folder, 0o755);
  const server = new EmbeddedServer({
    dataFolder: join(folder, 'data'),
    password: 'soak',
    port: await freePort(),
    settings: SETTINGS,
  });
  process.on('message', ({ restart }: { restart: 'fast' | 'immediate' }) => {
    const again = server.stop(restart).then(() => server.start());
    again.then(
      () => process.send?.({ restarted: true }),
      (error: unknown) => process.send?.({ failed: String(error) }),
    );
  });
  try {
    await server.start();
    process.send?.({ url: server.url });
    await released;
  } finally {
    await server.stop();
    rmSync(folder, { force: true, maxRetries: 5, recursive: true, retryDelay: 200 });
  }
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
