import type { SqlExecutor } from '@holdfast/kernel';
import type { DutyRun } from './duty.js';

/** DutyPlan is how often a duty is due and how long it may take. */
export interface DutyPlan {
  readonly deadlineMs: number;
  readonly everyMs: number;
  readonly name: string;
}

/** DueDuties are what is due now, and when something is next. */
export interface DueDuties {
  /** due names, the one that has been due for longest first. */
  readonly due: readonly string[];
  /** nextInMs is when the next of the others is due; undefined where there are no others. */
  readonly nextInMs: number | undefined;
}

/** DutyStart is a run that was written down. */
export interface DutyStart {
  /** failures in a row before this run. */
  readonly failures: number;
  readonly lastStartedAt: Date | null;
}

/** DutyEnd is how a run ended. */
export interface DutyEnd {
  /** failure is undefined for a run that is done. */
  readonly failure: { readonly class: string; readonly code: string; readonly retryMs: number } | undefined;
  readonly name: string;
  /** run is the token of its start: a run that another one has followed changes nothing. */
  readonly run: string;
}

/**
 * DutyLedger is the port to the last run of each duty: `every` survives a change of leader, and what the leader did last is there for all to see (S3).
 *
 * What starts and ends a run is written by the executor it is given, that of the leader's connection; the rest by itself.
 */
export abstract class DutyLedger {
  /** ask makes a duty due now. False when no run of it was ever written down: it is due then anyway. */
  abstract ask(name: string): Promise<boolean>;

  /** due answers which of these duties are due, by the database's clock. */
  abstract due(plans: readonly DutyPlan[]): Promise<DueDuties>;

  /** end writes down how a run ended; false when another run has followed it. */
  abstract end(executor: SqlExecutor, end: DutyEnd): Promise<boolean>;

  /** lastRuns answers the last run of every duty that ever ran, by name. */
  abstract lastRuns(): Promise<DutyRun[]>;

  /** lastStartMsAgo answers how long ago any duty was last started; undefined when none ever was. */
  abstract lastStartMsAgo(): Promise<number | undefined>;

  /** start writes down that a run begins; undefined when the duty is no longer due. */
  abstract start(executor: SqlExecutor, plan: DutyPlan, run: string, owner: string): Promise<DutyStart | undefined>;

  /** sweep takes away the last runs of duties that are no longer in the code: due for 30 days, and none of `keep`. */
  abstract sweep(keep: readonly string[]): Promise<number>;
}
