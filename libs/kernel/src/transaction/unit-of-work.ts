import { NestedScopeError } from '../errors/nested-scope.error.js';
import { ambientTransaction, runInTransaction } from './ambient-transaction.js';
import type { Database } from './database.js';
import type { IsolationLevel, Transaction } from './transaction.js';

/** UnitOfWorkOptions say how a unit of work runs. */
export interface UnitOfWorkOptions {
  /** Default READ COMMITTED. */
  readonly isolation?: IsolationLevel;
  /** readOnly refuses writes. Default false. */
  readonly readOnly?: boolean;
  /** tenantId is the tenant scope; left out, it is the system's (T2). */
  readonly tenantId?: string | null;
}

/**
 * UnitOfWork runs a function inside a transaction of the application's database and makes it ambient: jobs enqueued inside join it (Q1).
 *
 * It commits when the function resolves and rolls back when it rejects. A nested unit joins the open one; one that names another tenant or a
 * stricter isolation than the open one throws NestedScopeError.
 */
export class UnitOfWork {
  constructor(private readonly database: Database) {}

  async run<T>(work: (tx: Transaction) => Promise<T>, options: UnitOfWorkOptions = {}): Promise<T> {
    const outer = ambientTransaction(this.database.identity);
    if (outer) return this.join(outer, work, options);
    const open = await this.database.begin(options);
    let result: T;
    try {
      result = await runInTransaction(this.database.identity, open.transaction, () => work(open.transaction));
    } catch (error) {
      await open.rollback();
      throw error;
    }
    await open.commit();
    return result;
  }

  private join<T>(outer: Transaction, work: (tx: Transaction) => Promise<T>, options: UnitOfWorkOptions): Promise<T> {
    if (options.tenantId !== undefined && options.tenantId !== outer.tenantId)
      throw new NestedScopeError('another tenant');
    if (options.isolation !== undefined && options.isolation !== 'READ COMMITTED')
      throw new NestedScopeError('an isolation level');
    if (options.readOnly) throw new NestedScopeError('read only');
    return work(outer);
  }
}
