import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedServer, freePort } from '@holdfast/testing';
import { BENCH_SETTINGS } from './bench.settings.js';

/**
 * The keeper is a process of its own that holds the benchmark's server, in a folder that goes with it. It ends when the benchmark lets go of it,
 * or is gone, however it went: then their channel closes. So no server outlives its benchmark.
 */
async function main(): Promise<void> {
  const released = new Promise<void>((resolve) => process.once('disconnect', resolve));
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  const folder = mkdtempSync('/var/tmp/holdfast-bench-');
  chmodSync(folder, 0o755);
  const port = await freePort();
  const server = new EmbeddedServer({
    dataFolder: join(folder, 'data'),
    password: 'bench',
    port,
    settings: BENCH_SETTINGS,
  });
  try {
    await server.start();
    process.send?.({ url: server.url });
    await released;
  } finally {
    await server.stop();
    rmSync(folder, { force: true, recursive: true });
  }
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
