import { setTimeout as sleep } from 'node:timers/promises';
import { escapeLiteral } from 'pg';
import { sqlStateOf } from '../errors/sql-state.js';
import type { SchemaName } from '../sql/schema-name.js';
import { MigrationBusyError } from './errors/migration-busy.error.js';
import { MigrationConnectionError } from './errors/migration-connection.error.js';
import { rowsOf, type MigrationConnection } from './migration.connection.js';
import { MIGRATION_LOCK_CLASS, migrationLockKey } from './migration.lock.js';

/** MigrationTimes bound every wait of a migration. */
export interface MigrationTimes {
  /** lockTimeoutMs is how long one statement waits for a lock on a table before the step is rolled back and tried again. Default 3 000. */
  readonly lockTimeoutMs: number;
  /** statementTimeoutMs bounds one statement; the role's own bound does not count. Default 600 000. */
  readonly statementTimeoutMs: number;
  /** waitMs bounds the wait for another instance that migrates, and for locks on tables. Default 60 000. */
  readonly waitMs: number;
}

type Attempt<T> = { readonly done: true; readonly value: T } | { readonly done: false; readonly error?: unknown };

const POLL_MS = { first: 25, most: 500 };
/** lock_not_available and deadlock_detected: the step rolled back, and another try may pass. */
const TRANSIENT: readonly (string | undefined)[] = ['55P03', '40P01'];

/**
 * MigrationSession runs work under the migration lock of a schema, with settings that do not depend on the role's.
 *
 * The lock is tried and never waited for inside the server: a waiting statement would hold a snapshot, and an index that is built concurrently
 * waits for every snapshot. A step in a transaction holds the lock for the transaction, which also works through a transaction-mode pooler;
 * one without a transaction holds it for the session and needs a direct connection.
 */
export class MigrationSession {
  constructor(
    private readonly connection: MigrationConnection,
    private readonly schema: SchemaName,
    private readonly times: MigrationTimes,
  ) {}

  /** checkConnection throws MigrationConnectionError for a pool, and for a connection that is inside a transaction. */
  async checkConnection(): Promise<void> {
    if ('idleCount' in this.connection) throw new MigrationConnectionError('this is a pool');
    const identity = () =>
      rowsOf<{ pid: number; xid: string }>(
        this.connection,
        'SELECT pg_catalog.pg_backend_pid() AS pid, pg_catalog.pg_current_xact_id()::text AS xid',
      );
    const [first] = await identity();
    const [second] = await identity();
    if (first?.xid === second?.xid) throw new MigrationConnectionError('a transaction is open on it');
  }

  /** outsideTransaction runs work under the lock, statement by statement. Throws MigrationBusyError after `waitMs`. */
  outsideTransaction<T>(work: () => Promise<T>): Promise<T> {
    return this.persist(() => this.tryOutside(work));
  }

  /** transaction runs work under the lock in one READ COMMITTED transaction. Throws MigrationBusyError after `waitMs`. */
  transaction<T>(work: () => Promise<T>): Promise<T> {
    return this.persist(() => this.tryTransaction(work));
  }

  private async busy(waitedMs: number, error: unknown): Promise<MigrationBusyError> {
    if (error !== undefined) {
      const text = error instanceof Error ? error.message : 'no message';
      return new MigrationBusyError(this.schema.name, waitedMs, `another session holds a lock on a table (${text})`, {
        cause: error,
      });
    }
    const object = Number(migrationLockKey(this.schema).split(', ')[1]) >>> 0;
    const holders = await rowsOf<{ holder: string }>(
      this.connection,
      `SELECT pg_catalog.format('the session %s (%s) holds the migration lock', l.pid, coalesce(a.application_name, '')) AS holder
FROM pg_catalog.pg_locks AS l LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid = l.pid
WHERE l.locktype = 'advisory' AND l.granted AND l.classid = ${MIGRATION_LOCK_CLASS} AND l.objid = ${object}
  AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())`,
    );
    return new MigrationBusyError(
      this.schema.name,
      waitedMs,
      holders[0]?.holder ?? 'another session holds the migration lock',
    );
  }

  private async persist<T>(attempt: () => Promise<Attempt<T>>): Promise<T> {
    const started = performance.now();
    for (let delay = POLL_MS.first; ; delay = Math.min(delay * 2, POLL_MS.most)) {
      const result = await attempt();
      if (result.done) return result.value;
      const waitedMs = Math.round(performance.now() - started);
      if (waitedMs >= this.times.waitMs) throw await this.busy(waitedMs, result.error);
      await sleep(Math.min(delay * (0.5 + Math.random()), this.times.waitMs - waitedMs));
    }
  }

  private settings(): Record<string, string> {
    return {
      client_min_messages: 'warning',
      default_transaction_isolation: 'read committed',
      default_transaction_read_only: 'off',
      idle_in_transaction_session_timeout: '0',
      lock_timeout: String(this.times.lockTimeoutMs),
      search_path: 'pg_catalog, pg_temp',
      statement_timeout: String(this.times.statementTimeoutMs),
      transaction_timeout: '0',
    };
  }

  private async tryOutside<T>(work: () => Promise<T>): Promise<Attempt<T>> {
    const key = migrationLockKey(this.schema);
    const [lock] = await rowsOf<{ locked: boolean }>(
      this.connection,
      `SELECT pg_catalog.pg_try_advisory_lock(${key}) AS locked`,
    );
    if (!lock?.locked) return { done: false };
    try {
      const names = Object.keys(this.settings()).map((name) => escapeLiteral(name));
      const before = await rowsOf<{ name: string; value: string }>(
        this.connection,
        `SELECT name, pg_catalog.current_setting(name) AS value FROM pg_catalog.unnest(ARRAY[${names.join(', ')}]) AS name
WHERE pg_catalog.current_setting(name, true) IS NOT NULL`,
      );
      await this.connection.query(setting(this.settings(), false));
      try {
        return { done: true, value: await work() };
      } finally {
        await this.connection.query(setting(Object.fromEntries(before.map(({ name, value }) => [name, value])), false));
      }
    } catch (error) {
      if (TRANSIENT.includes(sqlStateOf(error))) return { done: false, error };
      throw error;
    } finally {
      await this.connection.query(`SELECT pg_catalog.pg_advisory_unlock(${key})`).catch(() => undefined);
    }
  }

  private async tryTransaction<T>(work: () => Promise<T>): Promise<Attempt<T>> {
    await this.connection.query('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE');
    try {
      const [lock] = await rowsOf<{ locked: boolean }>(
        this.connection,
        `SELECT pg_catalog.pg_try_advisory_xact_lock(${migrationLockKey(this.schema)}) AS locked`,
      );
      if (!lock?.locked) {
        await this.connection.query('ROLLBACK');
        return { done: false };
      }
      await this.connection.query(setting(this.settings(), true));
      const value = await work();
      await this.connection.query('COMMIT');
      return { done: true, value };
    } catch (error) {
      // A connection that cannot even roll back is gone, and its transaction and lock with it.
      await this.connection.query('ROLLBACK').catch(() => undefined);
      if (TRANSIENT.includes(sqlStateOf(error))) return { done: false, error };
      throw error;
    }
  }
}

/** setting writes several settings in one statement; those that this server does not know are left out. */
function setting(settings: Record<string, string>, local: boolean): string {
  const rows = Object.entries(settings).map(([name, value]) => `(${escapeLiteral(name)}, ${escapeLiteral(value)})`);
  return `SELECT pg_catalog.set_config(name, value, ${local}) FROM (VALUES ${rows.join(', ')}) AS s (name, value)
WHERE pg_catalog.current_setting(name, true) IS NOT NULL`;
}
