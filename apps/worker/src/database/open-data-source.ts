import { ConfigurationError } from '@holdfast/hub';
import { DataSource, type DataSourceOptions } from 'typeorm';

/**
 * openDataSource connects and brings the worker's own tables up to date (`up`) or makes sure that they are (`check`).
 *
 * Several instances may start at once: they take turns under an advisory lock. Throws ConfigurationError when it cannot connect, and an
 * error that says why when a migration fails or, with `check`, is missing. Nothing stays open then.
 */
export async function openDataSource(options: DataSourceOptions, mode: 'up' | 'check'): Promise<DataSource> {
  const dataSource = await connect(options);
  try {
    await (mode === 'up' ? applyMigrations(dataSource) : checkMigrations(dataSource));
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
    throw new ConfigurationError([
      `DATABASE_URL: this database cannot be used: ${message || code || 'no reason given'}.`,
    ]);
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
