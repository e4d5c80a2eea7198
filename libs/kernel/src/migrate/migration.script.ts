import type { SchemaName } from '../sql/schema-name.js';
import { migrationLockKey } from './migration.lock.js';
import { isTransactional, type Migration } from './migration.js';

/** ScriptStep is a migration with everything that is to run with it, in order. */
export interface ScriptStep {
  readonly migration: Migration;
  readonly statements: readonly string[];
}

/** migrationScript writes what would run as one script for psql, to be reviewed or run by hand; it takes the same lock as the migrator. */
export function migrationScript(schema: SchemaName, steps: readonly ScriptStep[]): string {
  if (steps.length === 0) return '-- Nothing to run.\n';
  return steps.map((step) => writeStep(schema, step)).join('\n');
}

function writeStep(schema: SchemaName, { migration, statements }: ScriptStep): string {
  const title = `-- ${migration.part}: ${migration.id}`;
  const key = migrationLockKey(schema);
  const body = statements.map((statement) => `${statement};`);
  const lines = isTransactional(migration)
    ? [
        'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;',
        `SELECT pg_catalog.pg_advisory_xact_lock(${key});`,
        ...body,
        'COMMIT;',
      ]
    : [`SELECT pg_catalog.pg_advisory_lock(${key});`, ...body, `SELECT pg_catalog.pg_advisory_unlock(${key});`];
  return `${[title, ...lines].join('\n')}\n`;
}
