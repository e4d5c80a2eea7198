import type { ClientConfig, Pool } from 'pg';
import { clientConfigOf } from '../connection/client-config.js';
import type { PgExecutorOptions } from '../sql/pg.executor.js';
import { beginTransaction } from './begin-transaction.js';
import { checkPool } from './database-check.js';
import { Database, type BeginOptions, type OpenTransaction } from './database.js';

/** PgDatabase opens transactions on a pool of `pg`. */
export class PgDatabase extends Database {
  readonly identity: object;

  constructor(
    private readonly pool: Pool,
    private readonly options: PgExecutorOptions = {},
  ) {
    super();
    checkPool(pool);
    this.identity = pool;
  }

  get poolSize(): number {
    return this.pool.options.max;
  }

  begin(options: BeginOptions = {}): Promise<OpenTransaction> {
    return beginTransaction(this.pool, options, { preparedStatements: this.options.preparedStatements ?? true });
  }

  connectionConfig(): ClientConfig {
    return clientConfigOf(this.pool);
  }
}

/** pgPool makes a `pg` pool the database that transactions are opened on. Throws InvalidDatabaseError for anything else, a client included. */
export function pgPool(pool: Pool, options?: PgExecutorOptions): Database {
  return new PgDatabase(pool, options);
}
