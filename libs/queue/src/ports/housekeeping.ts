import type { Ending, Retention } from '../domain/retention.js';

/** ExpiredJobs are jobs of one kind and one final state of which some have been kept for long enough. */
export interface ExpiredJobs {
  readonly ending: Ending;
  /** keepMs is how long they are kept. */
  readonly keepMs: number;
  readonly kind: string;
}

/** ExpiredPage is what a look at some of the kinds found. */
export interface ExpiredPage {
  readonly expired: readonly ExpiredJobs[];
  /** next is the kind after which to go on; undefined after the last. */
  readonly next: string | undefined;
}

/** SweepMark is how far a sweep has come: the end of a job in microseconds since 1970, as a text, and its id. */
export interface SweepMark {
  readonly endedAt: string;
  readonly id: string;
}

/** SweepOrder asks for one small batch. */
export interface SweepOrder extends ExpiredJobs {
  /** after: those before it have been looked at in this run already. */
  readonly after: SweepMark | undefined;
  readonly limit: number;
}

/** Swept is what came of a batch. */
export interface Swept {
  /** mark of its last job; undefined where it found none. */
  readonly mark: SweepMark | undefined;
  /** removed jobs; those that somebody had locked in that moment stay for another run. */
  readonly removed: number;
}

/** KindDeferrals are the jobs of a kind that wait out an outage (R10). */
export interface KindDeferrals {
  readonly deferred: number;
  readonly kind: string;
  /** oldestAgeMs is for how long the longest of their outages has lasted. */
  readonly oldestAgeMs: number;
}

/** OldestTransaction is the transaction that has been open for longest in this database, as far as the role may see it. */
export interface OldestTransaction {
  readonly ageMs: number;
  readonly applicationName: string;
  /** holder names it for people: process id and application name, or a prepared transaction. Never what it runs. */
  readonly holder: string;
  /** pid is its process at the server; 0 for a prepared transaction. */
  readonly pid: number;
}

/** DatabaseHealth is what PostgreSQL says of itself that predicts trouble (M3). */
export interface DatabaseHealth {
  /** deadRows by table, as the statistics have them. */
  readonly deadRows: Readonly<Record<string, number>>;
  /** notificationQueueUsage is the part of the server's notification queue that is in use, 0 to 1; full, no NOTIFY commits. */
  readonly notificationQueueUsage: number;
  /** oldestTransaction is undefined where there is none, or none that the role may see. */
  readonly oldestTransaction: OldestTransaction | undefined;
  /** oldestXminAge is how many transactions ago the oldest snapshot was taken that any session of this database holds, also of roles whose transactions it may not see. */
  readonly oldestXminAge: number;
}

/** Housekeeping is the port to what the leader does for the tables: what has been kept for long enough goes (S5), and how they are is looked at (R10, M3). Each verb is one short transaction of its own on control connections. */
export abstract class Housekeeping {
  /** databaseHealth answers what predicts trouble; it needs no right but to connect (M3). */
  abstract databaseHealth(): Promise<DatabaseHealth>;

  /** deferrals answers the kinds with jobs that wait out an outage; bounded (R10). */
  abstract deferrals(): Promise<KindDeferrals[]>;

  /** expired answers, kind after kind in their order, of which jobs some have been kept for long enough: by what their definition said, else by `defaults`. */
  abstract expired(after: string | undefined, defaults: Retention): Promise<ExpiredPage>;

  /** sweep removes the oldest of them, with the aliases of their requests and whatever their runs have left; those that are locked are passed by. */
  abstract sweep(order: SweepOrder): Promise<Swept>;

  /** sweepRunRows removes narrow rows of runs that are over, which a process that crashed has left behind, and answers how many; `limit` at most of each sort. */
  abstract sweepRunRows(limit: number): Promise<number>;
}
