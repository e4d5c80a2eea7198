import { type ControlConnections, Migrator, type SchemaName } from '@holdfast/kernel';
import { queueMigrations } from '@holdfast/migrations';
import { Client, type ClientConfig } from 'pg';
import type { MigrationMode } from './queue.options.js';

const CONNECT_WITHIN_MS = 10_000;

/** TablePreparationOptions say where the tables are and what is done about them. */
export interface TablePreparationOptions {
  /** config of a connection for `'up'`; it opens transactions of its own. */
  readonly config: () => ClientConfig;
  /** connections for `'check'`, made when they are needed and closed afterwards. */
  readonly connections: () => ControlConnections;
  readonly mode: MigrationMode;
  readonly schema: SchemaName;
}

/**
 * prepareTables sees to it that this version can run on the tables, before the queue takes its first step.
 *
 * It leaves no connection open: an application whose start fails later is not always told to close. Throws what Migrator throws:
 * MigrationsPendingError with the ids that are missing, SchemaAccessError, …
 */
export async function prepareTables({ config, connections, mode, schema }: TablePreparationOptions): Promise<void> {
  const options = { migrations: queueMigrations, schema: schema.name };
  if (mode === 'check') {
    const opened = connections();
    await new Migrator(opened, options).check().finally(() => opened.close());
  }
  if (mode !== 'up') return;
  const client = new Client({
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    ...config(),
    application_name: 'holdfast-migrations',
  });
  // A connection that is lost rejects the statement that runs; without a listener it would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await new Migrator(client, options).up();
  } finally {
    await client.end().catch(() => undefined);
  }
}
