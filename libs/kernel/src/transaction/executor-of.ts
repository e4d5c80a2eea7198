import { statusOf, type PgClientLike, type PgStatus } from '../sql/pg.types.js';
import { property } from '../errors/error-chain.js';
import { NoOpenTransactionError } from '../errors/no-open-transaction.error.js';
import { TransactionSettledError } from '../errors/transaction-settled.error.js';
import type { OpenTransaction } from './database.js';
import { GatedTransaction } from './gated.transaction.js';
import type { Transaction } from './transaction.js';
import { PgExecutor } from '../sql/pg.executor.js';
import type { SqlExecutor, SqlResult } from '../sql/sql-executor.js';

/** QueryRunnerLike is the part of TypeORM's QueryRunner that tells whether it can be joined. */
export interface QueryRunnerLike {
  readonly isReleased: boolean;
  readonly isTransactionActive: boolean;
  connect(): Promise<unknown>;
}

/** EntityManagerLike is the part of TypeORM's EntityManager that leads to its transaction. */
export interface EntityManagerLike {
  readonly queryRunner?: QueryRunnerLike | undefined;
  getRepository(...args: never[]): unknown;
  transaction(...args: never[]): Promise<unknown>;
}

/**
 * TransactionHandle is what names an open transaction to join (Q1): an EntityManager inside `dataSource.transaction()`, a QueryRunner after
 * `startTransaction()`, a `pg` client after BEGIN, a Transaction of Holdfast, or any SqlExecutor, whose maker answers for its transaction.
 */
export type TransactionHandle =
  EntityManagerLike | OpenTransaction | PgClientLike | QueryRunnerLike | SqlExecutor | Transaction;

/**
 * executorOf answers the executor that sends into the transaction of a handle.
 *
 * Throws NoOpenTransactionError for a pool, a DataSource, and a manager, query runner or `pg` client without an open transaction; TransactionSettledError
 * for one of Holdfast's that has ended. A transaction that ends later makes its queries reject in the same way.
 */
export function executorOf(handle: TransactionHandle): SqlExecutor {
  if (has(handle, 'transaction', 'object') && has(handle, 'rollback'))
    return executorOf((handle as OpenTransaction).transaction);
  if (has(handle, 'sql', 'object') && has(handle, 'afterCommit')) return ofTransaction(handle as Transaction);
  if (has(handle, 'createQueryRunner')) throw new NoOpenTransactionError('A DataSource');
  if (has(handle, 'transaction') && has(handle, 'getRepository')) return ofManager(handle as EntityManagerLike);
  if (has(handle, 'isTransactionActive', 'boolean'))
    return new QueryRunnerExecutor('A QueryRunner', handle as QueryRunnerLike);
  if (has(handle, 'totalCount', 'number') && has(handle, 'connect')) throw new NoOpenTransactionError('A pool');
  if (isPgClient(handle)) return new ClientExecutor(handle);
  if (has(handle, 'query')) return handle instanceof PgExecutor ? handle : new ForeignExecutor(handle as SqlExecutor);
  throw new NoOpenTransactionError(nameOf(handle));
}

/** A short text is quoted: mostly it is a misspelt 'own'. */
function nameOf(handle: unknown): string {
  if (typeof handle === 'string') return `The text ${JSON.stringify(handle.slice(0, 20))}`;
  if (handle === null || handle === undefined) return `The value ${String(handle)}`;
  return 'A value that is no transaction';
}

function has(value: unknown, key: string, type = 'function'): boolean {
  const found = property(value, key);
  return typeof found === type && found !== null;
}

function isPgClient(handle: unknown): handle is PgClientLike {
  return has(handle, 'query') && (has(handle, 'getTransactionStatus') || has(handle, 'escapeLiteral'));
}

function ofManager(manager: EntityManagerLike): SqlExecutor {
  if (!manager.queryRunner) throw new NoOpenTransactionError('An EntityManager');
  return new QueryRunnerExecutor('An EntityManager', manager.queryRunner);
}

function ofTransaction(transaction: Transaction): SqlExecutor {
  if (transaction instanceof GatedTransaction && transaction.settled) throw new TransactionSettledError();
  return transaction.sql;
}

/** ClientExecutor sends through the user's `pg` client as long as a transaction is open there. */
class ClientExecutor implements SqlExecutor {
  constructor(private readonly client: PgClientLike) {
    requireOpen('A pg client', statusOf(client));
  }

  async query<Row>(text: string, values?: readonly unknown[], name?: string): Promise<SqlResult<Row>> {
    requireOpen('A pg client', statusOf(this.client));
    return new PgExecutor(this.client).query<Row>(text, values, name);
  }
}

/**
 * ForeignExecutor sends text and values alone: a `query` bound to a `pg` client takes whatever comes third for a callback, and calls it where nobody
 * can catch what happens.
 */
class ForeignExecutor implements SqlExecutor {
  constructor(private readonly executor: SqlExecutor) {}

  query<Row>(text: string, values: readonly unknown[] = []): Promise<SqlResult<Row>> {
    return this.executor.query<Row>(text, values);
  }
}

/** QueryRunnerExecutor sends through the `pg` client behind a query runner: the same transaction, and statements can stay prepared. */
class QueryRunnerExecutor implements SqlExecutor {
  constructor(
    private readonly handle: string,
    private readonly queryRunner: QueryRunnerLike,
  ) {
    this.requireActive();
  }

  async query<Row>(text: string, values?: readonly unknown[], name?: string): Promise<SqlResult<Row>> {
    this.requireActive();
    const client = (await this.queryRunner.connect()) as PgClientLike;
    requireOpen(this.handle, statusOf(client));
    return new PgExecutor(client).query<Row>(text, values, name);
  }

  private requireActive(): void {
    if (this.queryRunner.isReleased || !this.queryRunner.isTransactionActive)
      throw new NoOpenTransactionError(this.handle);
  }
}

function requireOpen(handle: string, status: PgStatus | undefined): void {
  if (status === 'I') throw new NoOpenTransactionError(handle);
}
