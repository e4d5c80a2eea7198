import { SchemaName } from '../sql/schema-name.js';
import type { MigrationConnection } from './migration.connection.js';
import { MigrationHistory, type AppliedMigration } from './migration.history.js';
import { migrationLockKey } from './migration.lock.js';
import { MigrationPlan } from './migration.plan.js';
import { MigrationStep } from './migration.step.js';
import type { Migration } from './migration.js';

/**
 * applyInOpenTransaction applies one migration in a transaction that somebody else has opened (TypeORM's migration runner), under the same
 * lock and into the same history as the migrator, so that both can be used on one schema. False when it was there already.
 */
export async function applyInOpenTransaction(
  connection: MigrationConnection,
  schemaName: string,
  migration: Migration,
): Promise<boolean> {
  const { applied, schema, step } = await begin(connection, schemaName);
  if (new MigrationPlan(schema, [migration], applied).pending().length === 0) return false;
  await step.apply(connection, migration);
  return true;
}

/** revertInOpenTransaction takes one migration back in a transaction that somebody else has opened. False when it was not there. */
export async function revertInOpenTransaction(
  connection: MigrationConnection,
  schemaName: string,
  migration: Migration,
): Promise<boolean> {
  const { applied, schema, step } = await begin(connection, schemaName);
  if (new MigrationPlan(schema, [migration], applied).revertible().length === 0) return false;
  await step.revert(connection, migration);
  return true;
}

async function begin(
  connection: MigrationConnection,
  schemaName: string,
): Promise<{ applied: AppliedMigration[]; schema: SchemaName; step: MigrationStep }> {
  const schema = new SchemaName(schemaName);
  const history = new MigrationHistory(schema);
  await connection.query(`SELECT pg_catalog.pg_advisory_xact_lock(${migrationLockKey(schema)})`);
  return { applied: await history.read(connection), schema, step: new MigrationStep(schema, history) };
}
