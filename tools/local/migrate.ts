import { Migrator } from '@holdfast/kernel';
import { queueMigrations } from '@holdfast/migrations';
import { Client } from 'pg';

/** migrate brings the schema of the queue up to date. The tables of the two apps are theirs to make. */
export async function migrate(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  // A server that is stopped meanwhile: the statement that was running says so, and this listener keeps it at that.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const logger = { log: (message: string) => console.log(`[start] ${message}`) };
    await new Migrator(client, {
      logger,
      migrations: queueMigrations,
      schema: process.env.HOLDFAST_SCHEMA || 'holdfast',
    }).up();
  } finally {
    await client.end();
  }
}
