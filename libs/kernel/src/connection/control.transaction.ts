import { CommitUnknownError } from '../errors/commit-unknown.error.js';
import { isConnectionLost, sqlStateOf } from '../errors/sql-state.js';
import { TransactionAbortedError } from '../errors/transaction-aborted.error.js';
import { TransactionSettledError } from '../errors/transaction-settled.error.js';
import type { SqlExecutor, SqlResult } from '../sql/sql-executor.js';
import type { DedicatedConnection } from './dedicated.connection.js';

const ROLLBACK_WITHIN_MS = 2_000;
const READ_ONLY = '25006';

/** ControlTransaction is one transaction on a control connection, with one deadline for the whole of it. */
export class ControlTransaction implements SqlExecutor {
  private readonly endsAt: number;
  private firstError: unknown;
  private over = false;

  constructor(
    private readonly connection: DedicatedConnection,
    private readonly deadlineMs: number,
  ) {
    this.endsAt = performance.now() + deadlineMs;
  }

  async query<Row>(text: string, values?: readonly unknown[], name?: string): Promise<SqlResult<Row>> {
    if (this.over) throw new TransactionSettledError();
    try {
      return await this.connection.query<Row>({ deadlineMs: this.leftMs, name, text, values });
    } catch (error) {
      this.firstError ??= error;
      throw error;
    }
  }

  /** run begins, runs `work`, and commits or rolls back. A connection that could do neither is gone. */
  async run<T>(work: (executor: SqlExecutor) => Promise<T>): Promise<T> {
    const ms = Math.ceil(this.deadlineMs);
    const begin = `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = ${ms}; SET LOCAL idle_in_transaction_session_timeout = ${ms}`;
    try {
      await this.query(begin);
      const result = await work(this);
      await this.commit();
      return result;
    } catch (error) {
      this.over = true;
      if (!(error instanceof CommitUnknownError)) await this.rollback();
      throw error;
    }
  }

  private async commit(): Promise<void> {
    this.over = true;
    let tag: string | undefined;
    try {
      tag = await this.connection.tag({ deadlineMs: this.leftMs, name: undefined, text: 'COMMIT' });
    } catch (error) {
      throw isConnectionLost(error) && sqlStateOf(error) !== READ_ONLY ? new CommitUnknownError(error) : error;
    }
    if (tag !== 'COMMIT') throw new TransactionAbortedError(this.firstError);
  }

  private get leftMs(): number {
    return Math.max(1, this.endsAt - performance.now());
  }

  private async rollback(): Promise<void> {
    if (this.connection.lost || !this.connection.inTransaction) return;
    try {
      await this.connection.query({ deadlineMs: ROLLBACK_WITHIN_MS, text: 'ROLLBACK' });
    } catch (error) {
      this.connection.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  }
}
