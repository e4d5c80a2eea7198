import { property } from '../errors/error-chain.js';
import { NoOpenTransactionError } from '../errors/no-open-transaction.error.js';
import { statusOf, type PgClientLike } from '../sql/pg.types.js';
import type { SqlExecutor, SqlResult } from '../sql/sql-executor.js';

/** DrizzleTransactionLike is the part of Drizzle's PgTransaction that statements are sent through. */
export interface DrizzleTransactionLike {
  execute(query: never): PromiseLike<unknown>;
  rollback(): void;
}

const HANDLE = 'A Drizzle database';
const REMEDY = 'Hand over the tx that db.transaction() gives, inside its callback.';

/** DrizzleExecutor sends through `execute` of a transaction of Drizzle. */
export class DrizzleExecutor implements SqlExecutor {
  constructor(private readonly transaction: DrizzleTransactionLike) {
    this.requireOpen();
  }

  async query<Row>(text: string, values: readonly unknown[] = []): Promise<SqlResult<Row>> {
    this.requireOpen();
    return resultOf<Row>(await this.transaction.execute(statement(text, values) as never));
  }

  private requireOpen(): void {
    if (typeof property(this.transaction, 'rollback') !== 'function' || hasEnded(this.transaction))
      throw new NoOpenTransactionError(HANDLE, REMEDY);
  }
}

/** With node-postgres the connection behind it says whether a transaction is open; with other drivers nobody does. */
function hasEnded(transaction: DrizzleTransactionLike): boolean {
  const client = property(property(transaction, 'session'), 'client');
  return typeof property(client, 'getTransactionStatus') === 'function' && statusOf(client as PgClientLike) === 'I';
}

/** The `sql` of Drizzle as far as `execute` looks at it, without loading Drizzle: its template would write each array as a list of parameters. */
function statement(sql: string, params: readonly unknown[]): object {
  const query = { getSQL: () => query, toQuery: () => ({ params: [...params], sql }) };
  return query;
}

/** A driver answers an object with rows, as `pg` does, or a list of the rows that has their number, as postgres.js does. */
function resultOf<Row>(answer: unknown): SqlResult<Row> {
  const rows = (Array.isArray(answer) ? [...(answer as Row[])] : property(answer, 'rows')) as Row[] | undefined;
  const count = property(answer, 'rowCount') ?? property(answer, 'count') ?? property(answer, 'affectedRows');
  return { rowCount: Number(count ?? rows?.length ?? 0), rows: rows ?? [] };
}

/**
 * fromDrizzle makes an executor of an open transaction of Drizzle: `jobs.enqueue(…, { in: fromDrizzle(tx) })` (Q1).
 *
 * A transaction inside it is a savepoint, which the job follows. Throws NoOpenTransactionError for a database that is no transaction; with the driver
 * node-postgres also for one that has ended, which later makes its queries reject in the same way.
 */
export function fromDrizzle(transaction: DrizzleTransactionLike): SqlExecutor {
  return new DrizzleExecutor(transaction);
}
