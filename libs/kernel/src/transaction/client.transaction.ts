import type { CheckedOutClient } from '../connection/checked-out.client.js';
import type { PgResult } from '../sql/pg.types.js';
import { CommitUnknownError } from '../errors/commit-unknown.error.js';
import { ConnectionLostError } from '../errors/connection-lost.error.js';
import { isConnectionLost, sqlStateOf } from '../errors/sql-state.js';
import { StatementDeadlineError } from '../errors/statement-deadline.error.js';
import { TransactionAbortedError } from '../errors/transaction-aborted.error.js';
import { TransactionEndedError } from '../errors/transaction-ended.error.js';
import { TransactionSettledError } from '../errors/transaction-settled.error.js';
import { inlineStatement } from '../sql/inline-statement.js';
import type { BoundStatement } from '../sql/statement.js';
import { withDeadline } from '../time/deadline.js';
import { nextText } from './begin-text.js';
import type { OpenTransaction } from './database.js';
import type { Transaction } from './transaction.js';
import type { Lead, TransactionGate } from './transaction.gate.js';
import type { PartScope, TransactionPart } from './transaction.part.js';

const COMMIT_WITHIN_MS = 30_000;
const NEXT_WITHIN_MS = 30_000;
const ROLLBACK_WITHIN_MS = 5_000;
const IN_FAILED_TRANSACTION = '25P02';
const READ_ONLY = '25006';

/** Which part of its life a transaction is in; `sent`: the fence is on its way, and only the server knows. */
type Phase = 'open' | 'ending' | 'sent' | 'over';

/**
 * ClientTransaction is an open transaction on a client of the application's pool: one round trip for its commit, its client back exactly once.
 *
 * open → ending (nothing new is let in, what is in flight is waited for) → sent (fence and COMMIT are on their way) → over. `destroy` works in
 * the first two, and never after the fence was sent (R6).
 */
export class ClientTransaction implements OpenTransaction {
  private destroyedBy: Error | undefined;
  /** handoverError is why the parts before could not stand as they were. */
  private handoverError: Error | undefined;
  private lostBy: ConnectionLostError | undefined;
  private part: TransactionPart;
  /** parts are all handles there have been, the one in use last. */
  private readonly parts: TransactionPart[];
  private phase: Phase = 'open';
  private rollingBack: Promise<void> | undefined;

  constructor(
    private readonly checkedOut: CheckedOutClient,
    private readonly partOf: (scope: PartScope, lead?: Lead) => TransactionPart,
    scope: PartScope,
    private readonly preparedStatements = true,
  ) {
    this.part = partOf(scope);
    this.parts = [this.part];
  }

  get firstError(): Error | undefined {
    return this.handoverError ?? this.gate.firstError ?? this.lost;
  }

  get lingers(): boolean {
    return this.gate.lingers;
  }

  get lost(): ConnectionLostError | undefined {
    if (this.gate.firstError instanceof ConnectionLostError) return this.gate.firstError;
    if (this.checkedOut.lost) this.lostBy ??= new ConnectionLostError('keep a transaction open', this.checkedOut.lost);
    return this.lostBy;
  }

  get state(): 'open' | 'aborted' | 'ended' {
    if (this.phase === 'over' || this.lost || this.checkedOut.status === 'I') return 'ended';
    return this.gate.firstError || this.checkedOut.status === 'E' ? 'aborted' : 'open';
  }

  get transaction(): Transaction {
    return this.part.transaction;
  }

  private get gate(): TransactionGate {
    return this.part.gate;
  }

  async commit(fence?: BoundStatement<unknown>): Promise<void> {
    if (this.phase !== 'open') throw this.destroyedBy ?? new TransactionSettledError();
    try {
      await this.beforeCommit();
      this.end();
      await this.quiet(COMMIT_WITHIN_MS);
    } catch (error) {
      await this.rollback();
      throw error;
    }
    const obstacle = this.obstacle();
    if (obstacle) {
      await this.rollback();
      throw obstacle;
    }
    this.phase = 'sent';
    await this.send(fence);
    this.finish(true);
    for (const { afterCommit } of this.parts) afterCommit.run();
  }

  destroy(reason: Error): boolean {
    if (this.phase === 'sent' || this.phase === 'over') return false;
    this.end();
    this.destroyedBy = reason;
    this.checkedOut.destroy(reason);
    this.finish(false);
    return true;
  }

  async next(scope: PartScope): Promise<void> {
    if (this.phase !== 'open') throw this.destroyedBy ?? new TransactionSettledError();
    await this.beforeCommit();
    this.closePart();
    await this.quiet(NEXT_WITHIN_MS);
    const obstacle = this.obstacle();
    if (obstacle) throw obstacle;
    const answered = (answer: Promise<unknown>) =>
      void answer.catch((error: unknown) => (this.handoverError ??= error instanceof Error ? error : undefined));
    this.part = this.partOf(scope, { answered, text: nextText(scope) });
    this.parts.push(this.part);
  }

  rollback(): Promise<void> {
    if (this.phase === 'sent' || this.phase === 'over') return this.rollingBack ?? Promise.resolve();
    this.end();
    this.rollingBack ??= this.undo();
    return this.rollingBack;
  }

  private async beforeCommit(): Promise<void> {
    if (this.state === 'open' && !this.gate.tamper) await this.part.hooks.beforeCommit?.();
  }

  private closePart(): void {
    const { gate, hooks, transaction } = this.part;
    gate.close();
    if (transaction.settled) return;
    transaction.end();
    hooks.ended?.();
  }

  /** end lets nothing in any more. */
  private end(): void {
    if (this.phase !== 'open') return;
    this.phase = 'ending';
    this.closePart();
  }

  /** finish gives the client back, or destroys it where anything about it is in doubt. */
  private finish(committed: boolean): void {
    if (this.phase === 'over') return;
    this.phase = 'over';
    const { lost } = this;
    if (lost) this.checkedOut.destroy(lost);
    else if (this.parts.some(({ gate }) => gate.dirty)) this.checkedOut.destroy(new Error('The session was changed.'));
    else this.checkedOut.giveBack();
    for (const { hooks } of this.parts) hooks.settled?.(committed);
  }

  /** obstacle answers why this transaction cannot commit, or undefined. */
  private obstacle(): Error | undefined {
    if (this.destroyedBy) return this.destroyedBy;
    if (this.rollingBack) return new TransactionSettledError();
    const { lost } = this;
    if (lost) return lost;
    if (this.state === 'aborted') return new TransactionAbortedError(this.firstError);
    if (this.gate.tamper) return this.gate.tamper;
    return this.state === 'ended' ? new TransactionEndedError() : undefined;
  }

  private async quiet(ms: number): Promise<void> {
    await withDeadline(
      this.gate.idle(),
      ms,
      () => new StatementDeadlineError('what the transaction still had in flight', ms),
    );
  }

  /** send sends fence and COMMIT in one round trip and accepts nothing but the command tag COMMIT (R2). */
  private async send(fence: BoundStatement<unknown> | undefined): Promise<void> {
    let tag: string | undefined;
    try {
      const late = () => new StatementDeadlineError('COMMIT', COMMIT_WITHIN_MS);
      tag = (await withDeadline(this.sendCommit(fence), COMMIT_WITHIN_MS, late))?.command;
    } catch (error) {
      throw await this.failed(error);
    }
    if (tag === 'COMMIT') return;
    this.finish(false);
    throw new TransactionAbortedError(this.gate.firstError);
  }

  private async sendCommit(fence: BoundStatement<unknown> | undefined): Promise<PgResult | undefined> {
    if (!fence) return (await this.checkedOut.send('COMMIT')).at(-1);
    const { name, text, values } = fence;
    const query = this.preparedStatements ? { name, text, values: [...values] } : { text, values: [...values] };
    return this.checkedOut.sendWithCommit(query, () => inlineStatement(fence));
  }

  /** failed ends the transaction after an error from fence or COMMIT and answers what to throw. */
  private async failed(error: unknown): Promise<unknown> {
    const state = sqlStateOf(error);
    if (error instanceof StatementDeadlineError || this.checkedOut.lost || isConnectionLost(error)) {
      this.checkedOut.destroy(error instanceof Error ? error : new Error(String(error)));
      this.finish(false);
      // A server that refused the write as read-only has not committed it; any other loss leaves that open.
      return state === READ_ONLY ? new ConnectionLostError('commit', error) : new CommitUnknownError(error);
    }
    await this.undo();
    return state === IN_FAILED_TRANSACTION ? new TransactionAbortedError(this.gate.firstError ?? error) : error;
  }

  private async undo(): Promise<void> {
    try {
      await this.quiet(ROLLBACK_WITHIN_MS);
      if (this.phase !== 'over' && !this.lost && this.checkedOut.status !== 'I') {
        const late = () => new StatementDeadlineError('ROLLBACK', ROLLBACK_WITHIN_MS);
        await withDeadline(this.checkedOut.send('ROLLBACK'), ROLLBACK_WITHIN_MS, late);
      }
      if (this.checkedOut.status !== undefined && this.checkedOut.status !== 'I')
        throw new Error('ROLLBACK left a transaction open.');
    } catch (error) {
      this.checkedOut.destroy(error instanceof Error ? error : new Error(String(error)));
    }
    this.finish(false);
  }
}
