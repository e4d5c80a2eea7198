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

/** Housekeeping is the port to what is taken away when its time has come (S5). Each verb is one short transaction of its own on control connections. */
export abstract class Housekeeping {
  /** expired answers, kind after kind in their order, of which jobs some have been kept for long enough: by what their definition said, else by `defaults`. */
  abstract expired(after: string | undefined, defaults: Retention): Promise<ExpiredPage>;

  /** sweep removes the oldest of them, with the aliases of their requests and whatever their runs have left; those that are locked are passed by. */
  abstract sweep(order: SweepOrder): Promise<Swept>;

  /** sweepRunRows removes narrow rows of runs that are over, which a process that crashed has left behind, and answers how many; `limit` at most of each sort. */
  abstract sweepRunRows(limit: number): Promise<number>;
}
