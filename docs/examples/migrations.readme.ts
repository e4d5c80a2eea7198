import { Migrator } from '@holdfast/kernel';
import { queueMigrations } from '@holdfast/migrations';
import { Client } from 'pg';

export async function migrate(): Promise<void> {
  const client = new Client({ connectionString: process.env.MIGRATOR_URL });
  await client.connect();
  await new Migrator(client, { migrations: queueMigrations, schema: 'holdfast' }).up();
  await client.end();
}
