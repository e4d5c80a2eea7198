import { property } from '../errors/error-chain.js';
import { NoOpenTransactionError } from '../errors/no-open-transaction.error.js';
import { PgExecutor } from '../sql/pg.executor.js';
import { statusOf, type PgClientLike } from '../sql/pg.types.js';
import type { SqlExecutor, SqlResult } from '../sql/sql-executor.js';

/** KnexTransactionLike is the part of Knex's Transaction that leads to its connection. */
export interface KnexTransactionLike {
  readonly client: unknown;
  readonly isTransaction?: boolean | undefined;
  isCompleted(): boolean;
}

interface KnexClient {
  acquireConnection(): Promise<PgClientLike>;
}

const REMEDY = 'Hand over the trx that knex.transaction() gives, before its commit or rollback.';

/**
 * KnexExecutor sends through the connection of a Knex transaction, and not through `raw`: a `?` in a text is no placeholder there, arrays stay arrays,
 * and what the application does to responses (`postProcessResponse`) does not rename columns. Knex tells of these statements by no event.
 */
export class KnexExecutor implements SqlExecutor {
  constructor(
    private readonly transaction: KnexTransactionLike,
    private readonly handle = 'A Knex instance',
    private readonly remedy = REMEDY,
  ) {
    this.requireOpen();
  }

  async query<Row>(text: string, values?: readonly unknown[]): Promise<SqlResult<Row>> {
    // The connection of an instance that is no transaction any more is another one, out of the pool.
    this.requireOpen();
    const connection = await (this.transaction.client as KnexClient).acquireConnection();
    this.requireOpen();
    if (statusOf(connection) === 'I') throw new NoOpenTransactionError(this.handle, this.remedy);
    return new PgExecutor(connection).query<Row>(text, values);
  }

  private requireOpen(): void {
    if (!isKnexTransaction(this.transaction) || this.transaction.isCompleted())
      throw new NoOpenTransactionError(this.handle, this.remedy);
  }
}

/** isKnexTransaction tells a transaction of Knex from an instance that takes any connection of its pool. */
export function isKnexTransaction(value: unknown): value is KnexTransactionLike {
  return (
    property(value, 'isTransaction') === true &&
    typeof property(value, 'isCompleted') === 'function' &&
    typeof property(property(value, 'client'), 'acquireConnection') === 'function'
  );
}

/**
 * fromKnex makes an executor of an open transaction of Knex: `jobs.enqueue(…, { in: fromKnex(trx) })` (Q1).
 *
 * A transaction inside it is a savepoint, which the job follows. Throws NoOpenTransactionError for what is no transaction, and for one that has ended;
 * one that ends later makes its queries reject in the same way.
 */
export function fromKnex(transaction: KnexTransactionLike): SqlExecutor {
  return new KnexExecutor(transaction);
}
