import type { ClientConfig, Pool } from 'pg';
import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { clientConfigOf } from '../connection/client-config.js';
import { DataSourceNotInitializedError } from '../errors/data-source-not-initialized.error.js';
import type { PgExecutorOptions } from '../sql/pg.executor.js';
import { beginTransaction, type BegunTransaction } from './begin-transaction.js';
import { checkDataSource } from './database-check.js';
import { Database, type BeginOptions, type OpenTransaction } from './database.js';
import type { TransactionHooks } from './transaction.part.js';

declare module './transaction.js' {
  interface Transaction {
    /** manager is TypeORM's EntityManager bound to this transaction; a nested `manager.transaction()` is a savepoint in it (R4). */
    readonly manager: EntityManager;
  }
}

type BroadcastEvent = 'AfterTransactionCommit' | 'AfterTransactionRollback' | 'BeforeTransactionCommit';

/** The part of TypeORM's query runner for PostgreSQL that is set from outside, the same in 0.3.20 and 1.1. */
interface BoundQueryRunner {
  broadcaster: { broadcast(event: BroadcastEvent): Promise<void> };
  databaseConnection: unknown;
  isReleased: boolean;
  isTransactionActive: boolean;
  transactionDepth: number;
}

/** TypeOrmDatabase opens transactions on the connection pool of a TypeORM DataSource. */
export class TypeOrmDatabase extends Database {
  readonly identity: object;

  constructor(
    private readonly dataSource: DataSource,
    private readonly options: PgExecutorOptions = {},
  ) {
    super();
    checkDataSource(dataSource);
    this.identity = dataSource;
  }

  get poolSize(): number {
    return this.pool.options.max;
  }

  private get pool(): Pool {
    const { master } = this.dataSource.driver as { master?: Pool };
    if (!master) throw new DataSourceNotInitializedError();
    return master;
  }

  async begin(options: BeginOptions = {}): Promise<OpenTransaction> {
    const extend = (begun: BegunTransaction) => this.bindQueryRunner(begun);
    return beginTransaction(this.pool, options, {
      extend,
      preparedStatements: this.options.preparedStatements ?? true,
    });
  }

  connectionConfig(): ClientConfig {
    return clientConfigOf(this.pool);
  }

  /**
   * bindQueryRunner gives the transaction a query runner on its client.
   *
   * The runner has to know that a transaction is open: else `save()` would open and commit one of its own. At depth 1 whatever it begins is a
   * savepoint. It takes no part in connecting and releasing, so that the client goes back once, from one place.
   */
  private bindQueryRunner({ gate, transaction }: BegunTransaction): TransactionHooks {
    const queryRunner: QueryRunner = this.dataSource.createQueryRunner('master');
    const bound = queryRunner as unknown as BoundQueryRunner;
    bound.databaseConnection = gate.client;
    bound.isTransactionActive = true;
    bound.transactionDepth = 1;
    Object.assign(transaction, { manager: queryRunner.manager });
    return {
      beforeCommit: () => bound.broadcaster.broadcast('BeforeTransactionCommit'),
      ended: () => {
        bound.isReleased = true;
      },
      settled: (committed) => announce(bound, committed ? 'AfterTransactionCommit' : 'AfterTransactionRollback'),
    };
  }
}

/** typeOrm makes a TypeORM DataSource the database that transactions are opened on. It must be initialized before the first one. Throws InvalidDatabaseError for anything else. */
export function typeOrm(dataSource: DataSource, options?: PgExecutorOptions): Database {
  return new TypeOrmDatabase(dataSource, options);
}

/** What a subscriber throws after the end can undo nothing. */
function announce(bound: BoundQueryRunner, event: BroadcastEvent): void {
  bound.broadcaster.broadcast(event).catch((error: unknown) => {
    const detail = error instanceof Error ? error.stack : undefined;
    process.emitWarning(`A TypeORM subscriber failed on ${event}.`, { code: 'HOLDFAST_SUBSCRIBER', detail });
  });
}
