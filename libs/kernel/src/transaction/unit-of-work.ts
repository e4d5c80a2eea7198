import { NestedScopeError } from '../errors/nested-scope.error.js';
import { ambientTransaction, runInTransaction } from './ambient-transaction.js';
import type { Database } from './database.js';
import { GatedTransaction } from './gated.transaction.js';
import { checkTenant } from './tenant-check.js';
import type { IsolationLevel, Transaction } from './transaction.js';
import { checkIsolation, checkOptionNames } from './transaction.options.js';

/** UnitOfWorkOptions say how a unit of work runs. */
export interface UnitOfWorkOptions {
  /** acquireTimeoutMs bounds the wait for a connection and for BEGIN. Default 10 000. */
  readonly acquireTimeoutMs?: number;
  /** Default READ COMMITTED. */
  readonly isolation?: IsolationLevel;
  /** readOnly refuses writes. Default false. */
  readonly readOnly?: boolean;
  /** tenantId is the tenant scope, 1 to 200 bytes; left out, it is the system's (T2), or that of the unit of work around this one. */
  readonly tenantId?: string | null;
}

/** UnitOfWorkSettings hold for every unit of work of an application. */
export interface UnitOfWorkSettings {
  /** tenantSetting is the setting that row level security reads, such as `app.tenant_id`; left out, tenancy is off. */
  readonly tenantSetting?: string;
}

const OPTIONS: Readonly<Record<keyof UnitOfWorkOptions, true>> = {
  acquireTimeoutMs: true,
  isolation: true,
  readOnly: true,
  tenantId: true,
};
const STRICTNESS: Record<IsolationLevel, number> = { 'READ COMMITTED': 0, 'REPEATABLE READ': 1, SERIALIZABLE: 2 };

/**
 * UnitOfWork runs a function inside a transaction of the application's database and makes it ambient: jobs enqueued inside join it (Q1).
 *
 * It commits when the function resolves and rolls back when it rejects. A nested unit joins the open one: it commits and rolls back with it. One
 * that asks for another tenant, a stricter isolation or for read only, where the open one is not that already, throws NestedScopeError (T2).
 */
export class UnitOfWork {
  constructor(
    private readonly database: Database,
    private readonly settings: UnitOfWorkSettings = {},
  ) {}

  /**
   * run answers what `work` answers, after the commit. It rejects with what `work` threw, after the rollback; or with why it could not commit:
   * TransactionAbortedError (a caught SQL error), CommitUnknownError, or the server's own error (a deferred constraint). A tenant that is empty, too
   * long or cannot be stored, or any while tenancy is off, is a TenantRefusedError before anything is sent; an option that there is not, or an
   * isolation that is none, an InvalidTransactionOptionError.
   */
  async run<T>(work: (tx: Transaction) => Promise<T>, options: UnitOfWorkOptions = {}): Promise<T> {
    const { identity } = this.database;
    checkOptionNames(options, Object.keys(OPTIONS));
    checkIsolation(options.isolation);
    checkTenant(options.tenantId, this.settings.tenantSetting !== undefined);
    const outer = ambientTransaction(identity);
    if (outer) return join(outer, work, options);
    const open = await this.database.begin({ ...options, settings: this.scope(options.tenantId ?? null) });
    let result: T;
    try {
      result = await runInTransaction(identity, open.transaction, async () => work(open.transaction));
    } catch (error) {
      await open.rollback();
      throw error;
    }
    await open.commit();
    return result;
  }

  private scope(tenantId: string | null): Record<string, string> {
    const { tenantSetting } = this.settings;
    return tenantSetting === undefined ? {} : { [tenantSetting]: tenantId ?? '' };
  }
}

async function join<T>(
  outer: Transaction,
  work: (tx: Transaction) => Promise<T>,
  options: UnitOfWorkOptions,
): Promise<T> {
  const open = outer instanceof GatedTransaction ? outer : { isolation: 'READ COMMITTED' as const, readOnly: false };
  if (options.tenantId !== undefined && options.tenantId !== outer.tenantId)
    throw new NestedScopeError('another tenant');
  if (STRICTNESS[options.isolation ?? 'READ COMMITTED'] > STRICTNESS[open.isolation]) {
    throw new NestedScopeError(`the isolation ${options.isolation}`);
  }
  if (options.readOnly && !open.readOnly) throw new NestedScopeError('read only');
  return work(outer);
}
