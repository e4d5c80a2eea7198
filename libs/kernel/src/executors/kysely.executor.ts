import { property } from '../errors/error-chain.js';
import { NoOpenTransactionError } from '../errors/no-open-transaction.error.js';
import type { SqlExecutor, SqlResult } from '../sql/sql-executor.js';

/** KyselyResultLike is what Kysely answers for one statement; the number of changed rows is there for those that change any. */
export interface KyselyResultLike {
  readonly numAffectedRows?: bigint | undefined;
  readonly rows: unknown[];
}

/** KyselyTransactionLike is the part of Kysely's Transaction that statements are sent through. */
export interface KyselyTransactionLike {
  readonly isTransaction: true;
  withoutPlugins(): { executeQuery(query: never): Promise<KyselyResultLike> };
}

const REMEDY =
  'Hand over the trx that db.transaction().execute() or startTransaction() gives, before its commit or rollback.';

/** KyselyExecutor sends through a transaction of Kysely, past its plugins: one that renames columns (CamelCasePlugin) would rename these. */
export class KyselyExecutor implements SqlExecutor {
  constructor(
    private readonly transaction: KyselyTransactionLike,
    private readonly handle = 'A Kysely instance',
    private readonly remedy = REMEDY,
  ) {
    this.requireOpen();
  }

  async query<Row>(text: string, values: readonly unknown[] = []): Promise<SqlResult<Row>> {
    this.requireOpen();
    const result = await this.transaction.withoutPlugins().executeQuery(compiled(text, values) as never);
    const rows = result.rows as Row[];
    return { rowCount: Number(result.numAffectedRows ?? rows.length), rows };
  }

  private requireOpen(): void {
    if (!isKyselyTransaction(this.transaction) || hasEnded(this.transaction))
      throw new NoOpenTransactionError(this.handle, this.remedy);
  }
}

/** What CompiledQuery.raw of Kysely makes, without loading Kysely. */
function compiled(sql: string, parameters: readonly unknown[]): object {
  return {
    parameters,
    query: { kind: 'RawNode', parameters: [], sqlFragments: [sql] },
    queryId: { queryId: 'holdfast' },
    sql,
  };
}

/** A controlled transaction tells of its end; one of `execute()` does not. */
function hasEnded(transaction: KyselyTransactionLike): boolean {
  return property(transaction, 'isCommitted') === true || property(transaction, 'isRolledBack') === true;
}

/** isKyselyTransaction tells a transaction of Kysely from an instance that takes any connection of its pool. */
export function isKyselyTransaction(value: unknown): value is KyselyTransactionLike {
  return property(value, 'isTransaction') === true && typeof property(value, 'withoutPlugins') === 'function';
}

/**
 * fromKysely makes an executor of an open transaction of Kysely: `jobs.enqueue(…, { in: fromKysely(trx) })` (Q1).
 *
 * The job follows the savepoints of a controlled transaction. Throws NoOpenTransactionError for what is no transaction, and for a controlled one that
 * has ended. That one of `execute()` has ended cannot be seen: hand it over inside the callback, and await what is done with it.
 */
export function fromKysely(transaction: KyselyTransactionLike): SqlExecutor {
  return new KyselyExecutor(transaction);
}
