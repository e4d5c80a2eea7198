import { Migrator } from '@holdfast/kernel';
import { holdfastMigrations, queueMigrations } from '@holdfast/migrations';
import { Client } from 'pg';
import { DataSource } from 'typeorm';

export async function migrate(): Promise<void> {
  const client = new Client({ connectionString: process.env.MIGRATOR_URL });
  await client.connect();
  const migrator = new Migrator(client, { migrations: queueMigrations, schema: 'holdfast' });
  console.log(await migrator.sql()); // what would run, for review
  await migrator.up();
  await client.end();
}

export const dataSource = new DataSource({
  type: 'postgres',
  url: process.env.DATABASE_URL,
  migrations: [...holdfastMigrations({ parts: ['queue'] }), 'dist/migrations/*.js'],
});
