import type { SqlExecutor } from '../sql/sql-executor.js';
import type { AfterCommit } from './after-commit.js';
import type { BeginOptions } from './database.js';
import { GatedExecutor } from './gated.executor.js';
import type { IsolationLevel, Transaction } from './transaction.js';
import type { TransactionGate } from './transaction.gate.js';

/**
 * GatedTransaction is a transaction as application code gets it; it is dead once the transaction has ended (R4).
 *
 * With TypeORM, its database adds `manager` to it.
 */
export class GatedTransaction implements Omit<Transaction, 'manager'> {
  readonly isolation: IsolationLevel;
  readonly readOnly: boolean;
  readonly sql: SqlExecutor;
  readonly tenantId: string | null;
  private ended = false;

  constructor(
    private readonly callbacks: AfterCommit,
    private readonly gate: TransactionGate,
    options: BeginOptions & { preparedStatements: boolean },
  ) {
    this.isolation = options.isolation ?? 'READ COMMITTED';
    this.readOnly = options.readOnly ?? false;
    this.tenantId = options.tenantId ?? null;
    this.sql = new GatedExecutor(gate, options);
  }

  /** savepointRollbacks is how often it went back to a savepoint: whoever counts what it commits cannot know what is left of it. */
  get savepointRollbacks(): number {
    return this.gate.savepointRollbacks;
  }

  /** settled tells that the transaction has ended. */
  get settled(): boolean {
    return this.ended;
  }

  afterCommit(fn: () => void | Promise<void>): void {
    this.callbacks.add(fn);
  }

  end(): void {
    this.ended = true;
    this.callbacks.close();
  }
}
