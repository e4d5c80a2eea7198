import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { startTestServer } from './start-test-server.js';
import { TemplateDatabase } from './template.database.js';

/**
 * The keeper is a process of its own that holds the run's server. It ends when the run lets go of it, or is gone, however it went:
 * then their channel closes. So no server outlives its run.
 */
async function main(): Promise<void> {
  const released = new Promise<void>((resolve) => process.once('disconnect', resolve));
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.once('SIGTERM', () => process.connected && process.disconnect());

  const prefix = `hf_${randomBytes(4).toString('hex')}_`;
  const server = await startTestServer();
  const template = new TemplateDatabase(server.url, `${prefix}template`);
  try {
    await template.create();
    if (process.connected)
      process.send?.({
        ready: {
          kind: server.kind,
          logFile: server.logFile,
          major: await majorOf(server.url),
          prefix,
          template: template.name,
          url: server.url,
        },
      });
    await released;
  } finally {
    if (server.kind === 'external') await template.drop(prefix);
    await server.stop();
  }
}

async function majorOf(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ version: string }>(`SELECT current_setting('server_version_num') AS version`);
    return Math.floor(Number(rows[0]?.version) / 10_000);
  } finally {
    await client.end();
  }
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    if (process.connected) process.send?.({ failed: text }, () => process.exit(1));
    else process.exit(1);
  },
);
