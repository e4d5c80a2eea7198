import { Migrator } from '@holdfast/kernel';
import { Client } from 'pg';
import { migrationsFor } from '../src/index.js';

/** One instance that migrates as it starts: it says when it is connected, waits for the word, and tells what it applied. */
async function main(): Promise<void> {
  const client = new Client({ connectionString: process.env.URL });
  await client.connect();
  process.send?.({ event: 'connected' });
  await new Promise((resolve) => process.once('message', resolve));
  const migrator = new Migrator(client, { migrations: migrationsFor(['queue']), schema: process.env.SCHEMA ?? '' });
  const applied = await migrator.up();
  await migrator.check();
  process.send?.({ applied, event: 'migrated' });
  await client.end();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
