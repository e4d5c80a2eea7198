import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedServer, freePort } from '@holdfast/testing';
import { Client } from 'pg';
import { serverFolder } from './data-folder.js';
import { isFree } from './ports.js';
import { clearStaleServer } from './stale.server.js';

const DATABASE = 'holdfast';

/**
 * The keeper is a process of its own that holds the local PostgreSQL server: Ctrl-C does not reach it, so the server outlives the apps that use
 * it, and it ends when the start that made it is gone, however it went. Arguments: the folder for the data, and `passing` where the folder goes with the server.
 */
async function main(folder: string, passing: boolean): Promise<number> {
  const released = new Promise<void>((resolve) => process.once('disconnect', resolve));
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.once('SIGTERM', () => process.connected && process.disconnect());

  const data = serverFolder(folder);
  await clearStaleServer(data);
  const server = new EmbeddedServer({
    dataFolder: data,
    password: 'holdfast',
    port: await portFor(folder),
    settings: { max_connections: '100' },
  });
  try {
    await server.start();
    await createDatabase(server.url);
    if (process.connected) process.send?.({ event: 'ready', url: urlOf(server.url) });
    return await Promise.race([released.then(() => 0), server.exited.then(() => 1)]);
  } finally {
    await server.stop();
    if (passing) rmSync(folder, { force: true, maxRetries: 5, recursive: true, retryDelay: 200 });
  }
}

/** portFor answers the port of the last start on this data where it is free, so that a URL someone noted down goes on being right. */
async function portFor(folder: string): Promise<number> {
  const file = join(folder, 'postgres.port');
  const last = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  const port = last > 0 && (await isFree(last)) ? last : await freePort();
  writeFileSync(file, String(port));
  return port;
}

async function createDatabase(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  } finally {
    await client.end();
  }
}

function urlOf(serverUrl: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${DATABASE}`;
  return url.toString();
}

main(process.argv[2] ?? '', process.argv[3] === 'passing').then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  },
);
