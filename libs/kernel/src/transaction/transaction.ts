import type { SqlExecutor } from '../sql/sql-executor.js';

/** IsolationLevel is the isolation of a transaction. Default READ COMMITTED. */
export type IsolationLevel = 'READ COMMITTED' | 'REPEATABLE READ' | 'SERIALIZABLE';

/**
 * Transaction is an open transaction as application code sees it: in `unitOfWork.run`, in attached handlers, in `ctx.finish`.
 *
 * It is dead once the transaction has been settled: whatever is sent through it afterwards rejects (R4).
 * With TypeORM (`@holdfast/kernel/typeorm`) it also has `manager`, an EntityManager bound to this transaction.
 */
export interface Transaction {
  /** sql runs a statement inside this transaction. */
  readonly sql: SqlExecutor;
  /** tenantId is the tenant whose scope the transaction runs under, or null for the system (T2). */
  readonly tenantId: string | null;
  /**
   * afterCommit calls `fn` once, after this transaction has committed, and never when it has not.
   * What `fn` throws is reported as a warning: it can no longer undo anything.
   */
  afterCommit(fn: () => void | Promise<void>): void;
}
