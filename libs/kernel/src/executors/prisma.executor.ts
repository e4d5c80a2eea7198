import { property } from '../errors/error-chain.js';
import { NoOpenTransactionError } from '../errors/no-open-transaction.error.js';
import type { SqlExecutor, SqlResult } from '../sql/sql-executor.js';

/** PrismaTransactionLike is the part of the client inside `$transaction` that statements are sent through. */
export interface PrismaTransactionLike {
  $queryRawUnsafe(query: string, ...values: never[]): PromiseLike<unknown>;
}

const REMEDY = 'Hand over the tx that prisma.$transaction(async (tx) => …) gives, inside its callback.';

/** PrismaExecutor sends through `$queryRawUnsafe` of an interactive transaction; values stay parameters. */
export class PrismaExecutor implements SqlExecutor {
  constructor(private readonly transaction: PrismaTransactionLike) {
    // Of the client itself a transaction lacks what opens and closes connections.
    if (typeof property(transaction, '$connect') === 'function' || !property(transaction, '$queryRawUnsafe'))
      throw new NoOpenTransactionError('A Prisma client', REMEDY);
  }

  async query<Row>(text: string, values: readonly unknown[] = []): Promise<SqlResult<Row>> {
    const rows = (await this.transaction.$queryRawUnsafe(text, ...(values as never[]))) as Row[];
    return { rowCount: rows.length, rows };
  }
}

/**
 * fromPrisma makes an executor of an interactive transaction of Prisma: `jobs.enqueue(…, { in: fromPrisma(tx) })` (Q1).
 *
 * The number of rows it answers is that of the rows returned: all that an enqueue needs. Throws NoOpenTransactionError for the client itself. One that
 * has ended rejects with Prisma's own error.
 */
export function fromPrisma(transaction: PrismaTransactionLike): SqlExecutor {
  return new PrismaExecutor(transaction);
}
