import {
  CommitUnknownError,
  inlineStatement,
  isConnectionLost,
  type SqlExecutor,
  type SqlResult,
  sqlStateOf,
  startTimer,
  StatementDeadlineError,
  TransactionAbortedError,
  TransactionEndedError,
  TransactionSettledError,
} from '@holdfast/kernel';
import { LeadershipUnprovedError } from '../errors/leadership-unproved.error.js';
import { NotLeaderError } from '../errors/not-leader.error.js';
import { asError } from './as-error.js';
import type { ProvenConnection } from './proven.connection.js';
import { fenceLeader, LEADERSHIP_LOST } from './sql/fence-leader.sql.js';
import type { Stake } from './stake.js';

export type TransactionWork<T> = (executor: SqlExecutor) => Promise<T>;

const FAILED_TRANSACTION = '25P02';
const READ_ONLY = '25006';
/** The session's plans are pinned for statements of Holdfast's own; whoever's statements come here, the planner is free. */
const BEGIN = `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL enable_seqscan TO DEFAULT; SET LOCAL enable_bitmapscan TO DEFAULT; \
SET LOCAL jit TO DEFAULT; SET LOCAL max_parallel_workers_per_gather TO DEFAULT`;

/**
 * LeaderTransaction is one transaction on the session that holds the name (L3).
 *
 * It cannot commit once leadership is lost: with the session's end the transaction is gone, and what travels with COMMIT raises where the session
 * lives and the lock does not.
 */
export class LeaderTransaction implements SqlExecutor {
  private failure: unknown;
  private giveUp: (reason: Error) => void = () => undefined;
  private over = false;
  private readonly startedAt = performance.now();

  constructor(
    private readonly connection: ProvenConnection,
    private readonly stake: Stake,
    private readonly endsAt: number,
  ) {}

  /** open: its work may still send something. */
  get open(): boolean {
    return !this.over;
  }

  /** abandon ends it as soon as what it is sending has been answered, without waiting for the rest of the work. */
  abandon(): void {
    this.giveUp(this.notLeader(this.connection.ended));
  }

  /** A rejection that nobody looks at does not end the process: a failed statement fails the transaction. */
  query<Row>(text: string, values: readonly unknown[] = []): Promise<SqlResult<Row>> {
    const answer = this.send<Row>(text, values);
    answer.catch(() => undefined);
    return answer;
  }

  async run<T>(work: TransactionWork<T>): Promise<T> {
    if (!this.leads) throw this.notLeader(this.connection.ended);
    try {
      await this.send(BEGIN, []);
      if (!this.leads) throw this.notLeader(this.connection.ended);
      const result = await this.bounded(work);
      await this.commit();
      return result;
    } catch (error) {
      this.over = true;
      if (error instanceof CommitUnknownError) throw error;
      const led = this.leads;
      await this.rollback();
      throw led || error instanceof NotLeaderError ? error : this.notLeader(error);
    }
  }

  private async bounded<T>(work: TransactionWork<T>): Promise<T> {
    const leftMs = Math.max(0, this.endsAt - performance.now());
    const late = () =>
      new StatementDeadlineError('run a transaction as the leader', Math.round(this.endsAt - this.startedAt));
    const timer = startTimer(leftMs, () => this.giveUp(late()));
    try {
      return await new Promise<T>((resolve, reject) => {
        this.giveUp = reject;
        work(this).then(resolve, reject);
      });
    } finally {
      timer.clear();
      this.giveUp = () => undefined;
    }
  }

  private async commit(): Promise<void> {
    this.over = true;
    if (!this.leads) throw this.notLeader(this.connection.ended);
    if (!this.connection.inTransaction) throw new TransactionEndedError();
    const fence = inlineStatement(fenceLeader.bind(this.connection.schema, { key: this.stake.key }));
    let tag: string | undefined;
    try {
      tag = await this.connection.tag('commit as the leader', `${fence}; COMMIT`);
    } catch (error) {
      throw this.commitFailure(error);
    }
    if (tag !== 'COMMIT') throw new TransactionAbortedError(this.failure);
  }

  private commitFailure(error: unknown): unknown {
    const state = sqlStateOf(error);
    if (state === LEADERSHIP_LOST) {
      this.connection.end(
        new LeadershipUnprovedError('the lock was not on its session at the commit', { cause: error }),
      );
      return this.notLeader(error);
    }
    if (isConnectionLost(error) && state !== READ_ONLY) return new CommitUnknownError(error);
    return state === FAILED_TRANSACTION ? new TransactionAbortedError(this.failure ?? error) : error;
  }

  private get leads(): boolean {
    return this.stake.wanted && this.connection.beliefLeftMs(this.stake) > 0;
  }

  private notLeader(cause: unknown): NotLeaderError {
    return new NotLeaderError(this.stake.name, cause === undefined ? {} : { cause });
  }

  private async rollback(): Promise<void> {
    if (this.connection.ended || !this.connection.inTransaction) return;
    try {
      await this.connection.tag('rollback as the leader', 'ROLLBACK');
    } catch (error) {
      this.connection.end(asError(error));
    }
  }

  private async send<Row>(text: string, values: readonly unknown[]): Promise<SqlResult<Row>> {
    if (this.over) throw new TransactionSettledError();
    try {
      return await this.connection.send<Row>({ name: 'run a statement as the leader', text, values });
    } catch (error) {
      this.failure ??= error;
      throw error;
    }
  }
}
