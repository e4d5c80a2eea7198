import { Migrator } from '@holdfast/kernel';
import {
  enqueueGrantsFor,
  grantsFor,
  migrationsFor,
  operatorGrantsFor,
  sqlEnqueueGrantsFor,
} from '@holdfast/migrations';
import type { Client } from 'pg';

export async function migrateAndGrant(client: Client): Promise<void> {
  await new Migrator(client, { migrations: migrationsFor(['queue']), schema: 'holdfast', logger: console }).up();
  for (const statement of grantsFor('holdfast', 'orders_app')) await client.query(statement);
  for (const statement of enqueueGrantsFor('holdfast', 'orders_producer')) await client.query(statement);
  for (const statement of operatorGrantsFor('holdfast', 'orders_office')) await client.query(statement);
  for (const statement of sqlEnqueueGrantsFor('holdfast', 'orders_python')) await client.query(statement);
}
