import type { SqlExecutor } from '@holdfast/kernel';
import type { LeaderTransactionOptions } from './leadership.js';

/** DutyOptions declare a duty of the leader (S3). */
export interface DutyOptions {
  /**
   * deadline is how long a run may take, such as `'1m'`: then its signal aborts, it counts as failed, and the next duty has its turn. A run whose
   * process vanished is due again when its deadline is over. Default `'1m'`.
   */
  readonly deadline?: string;
  /** every is how often it is due, such as `'1h'`: from start to start, by the database's clock, whoever leads. At least `'100ms'`. */
  readonly every: string;
  /** name is what its last run is kept under: lower-case words joined by dots, at most 100 characters, once in the process. */
  readonly name: string;
}

/** DutyContext is what a run of a duty is given. */
export interface DutyContext {
  /** isLeader: this process led within the belief deadline when it was asked. A duty that writes elsewhere looks before it does (L3). */
  readonly isLeader: boolean;
  /** lastStartedAt is when the run before this one was started, by whichever process; null for the first. */
  readonly lastStartedAt: Date | null;
  /** signal aborts at the deadline, at the stop of the scheduler, and when leadership is lost. */
  readonly signal: AbortSignal;

  /**
   * transaction runs `work` in a transaction on the leader's own connection: it cannot commit once leadership is lost (L3). It is bounded by what is
   * left of the deadline. Throws NotLeaderError, ConnectionLostError, or CommitUnknownError as Candidate.transaction does; the signal's reason once
   * the deadline is over or leadership was lost, even where this process leads again; and TransactionSettledError when the run is over.
   */
  transaction<T>(work: (executor: SqlExecutor) => Promise<T>, options?: LeaderTransactionOptions): Promise<T>;
}

/** Duty is the work itself. What it writes must be harmless twice: it may be run again after a failure, or by the next leader (L3). */
export type Duty = (ctx: DutyContext) => unknown;

/** DutyRun is the last run of a duty, by whichever process. */
export interface DutyRun {
  readonly deadlineMs: number;
  /** dueInMs is when it is due next, by the database's clock; 0 or less when it is due now. */
  readonly dueInMs: number;
  /** endedAt is null while it runs, and where its process vanished. */
  readonly endedAt: Date | null;
  /** error is what the last run failed with: codes and classes, never a message. */
  readonly error: { readonly class: string; readonly code: string } | null;
  readonly everyMs: number;
  /** failures in a row. */
  readonly failures: number;
  readonly name: string;
  readonly owner: string;
  /** ranMs is null while it runs. */
  readonly ranMs: number | null;
  readonly startedAt: Date;
  /** startedMsAgo is how long ago it started, by the database's clock. */
  readonly startedMsAgo: number;
  /** state: `vanished` was started, has not ended, and its deadline is over. */
  readonly state: 'done' | 'failed' | 'running' | 'vanished';
}
