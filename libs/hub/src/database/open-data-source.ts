import { sqlStateOf } from '@holdfast/kernel';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { ConfigurationError } from '../configuration/configuration.error.js';
import { DatabaseUnreachableError } from './database-unreachable.error.js';
import { checkRole, checkTables } from './row-security.check.js';

/**
 * What a role that does not own the tables is told: that it may not, or, where everybody may create tables (before PostgreSQL 15), that there is one which
 * it cannot see.
 */
const MAY_NOT: readonly (string | undefined)[] = ['42501', '42P07'];

/**
 * openDataSource connects and brings the hub's tables up to date (`up`) or makes sure that they are (`check`).
 *
 * Several instances of both apps may start at once: they take turns under an advisory lock. Throws DatabaseUnreachableError when it cannot connect, ConfigurationError when the
 * role bypasses row level security or may not do what a migration needs, and an error that says why when a migration fails or, with `check`, is
 * missing. Nothing stays open then.
 */
export async function openDataSource(options: DataSourceOptions, mode: 'up' | 'check'): Promise<DataSource> {
  const dataSource = await connect(options);
  try {
    await checkRole(dataSource);
    await (mode === 'up' ? applyMigrations(dataSource) : checkMigrations(dataSource));
    await checkTables(dataSource);
    return dataSource;
  } catch (error) {
    await dataSource.destroy();
    throw error;
  }
}

async function applyMigrations(dataSource: DataSource): Promise<void> {
  const turn = dataSource.createQueryRunner();
  const key = dataSource.options.migrationsTableName;
  try {
    await turn.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [key]);
    await dataSource.runMigrations({ transaction: 'each' });
  } catch (error) {
    throw MAY_NOT.includes(sqlStateOf(error)) ? notAllowed(error) : error;
  } finally {
    await turn.query('SELECT pg_advisory_unlock(hashtextextended($1, 0))', [key]).catch(() => undefined);
    await turn.release();
  }
}

async function connect(options: DataSourceOptions): Promise<DataSource> {
  try {
    return await new DataSource(options).initialize();
  } catch (error) {
    // Where a name has several addresses, the error of all of them has a code and no message.
    const { code, message } = error as { code?: string; message?: string };
    throw new DatabaseUnreachableError(message || code || 'no reason given');
  }
}

async function checkMigrations(dataSource: DataSource): Promise<void> {
  const table = dataSource.options.migrationsTableName ?? '';
  const found = await dataSource.query<{ found: boolean }[]>('SELECT to_regclass($1) IS NOT NULL AS found', [table]);
  const rows = found[0]?.found ? await dataSource.query<{ name: string }[]>(`SELECT name FROM ${table}`) : [];
  const applied = new Set(rows.map((row) => row.name));
  const missing = dataSource.migrations.map((migration) => migration.name ?? '').filter((name) => !applied.has(name));
  if (missing.length > 0)
    throw new Error(
      `The database lacks ${missing.join(', ')}: start once with MIGRATIONS=up, as a role that may create tables.`,
    );
}

function notAllowed(error: unknown): ConfigurationError {
  const { message } = error as { message?: string };
  return new ConfigurationError([
    `DATABASE_URL: the role may not make or change the hub's tables: ${message ?? 'no reason given'}. Make it the owner of the database and of ` +
      `tables that are there already: ALTER DATABASE … OWNER TO …, ALTER TABLE … OWNER TO … (docs/tenants.md).`,
  ]);
}
