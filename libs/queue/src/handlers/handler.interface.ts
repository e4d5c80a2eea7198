import type { OpenTransaction, Transaction } from '@holdfast/kernel';
import type { AnyJobDefinition, PayloadOf } from '../domain/definition.js';
import type { Job } from '../domain/job.js';
import type { Outcome } from '../domain/outcome.js';
import type { BatchResults } from './batch.results.js';

/** RunContext is what every handler gets beside its job. */
export interface RunContext {
  /**
   * hold: from its return on, no enqueue of this job's key is satisfied by this run; one that commits later makes it run again (R11).
   * Throws LeaseLostError when this run no longer holds the job.
   */
  hold(): Promise<void>;
  /**
   * report tells how far the run has come, from 0 to 1: what `Jobs.find` answers as `progress` (R15). It resolves at once and never rejects; more is clamped, and
   * what is no number is no report. It is written outside every transaction of the handler, at most once a second, and what was reported last
   * before the run ends.
   */
  report(fraction: number): Promise<void>;
  /** signal aborts at the timeout, at a shutdown past its grace, and when the lease is lost; its reason says which. */
  readonly signal: AbortSignal;
}

/** AttachedContext is the context of a handler that runs inside the runner's transaction (R1). */
export interface AttachedContext extends RunContext {
  /** tx is the transaction that also records the job's completion; dead once the run is settled (R4). */
  readonly tx: Transaction;
}

/** Finished says that `ctx.finish` has settled the run: return it. */
export interface Finished {
  readonly type: 'finished';
}

/** DetachedContext is the context of a handler that owns its transactions because it reaches outside the database (R7). */
export interface DetachedContext extends RunContext {
  /**
   * finish commits `work`'s writes, its follow-up jobs and the fenced completion in one transaction, after the outside call (R22).
   * It throws what `work` throws, after the rollback, and LeaseLostError when the run no longer holds the job.
   */
  finish(work: (tx: Transaction) => Promise<Outcome | void>): Promise<Finished>;
  /** finish commits a transaction that the handler opened itself, with `database.begin()`, together with the fenced completion (R22). */
  finish(outcome: Outcome, options: { readonly in: OpenTransaction }): Promise<Finished>;
}

/** AttachedHandler runs in the runner's transaction: its writes, its follow-up jobs and its "done" commit together or not at all. */
export interface AttachedHandler<D extends AnyJobDefinition = AnyJobDefinition> {
  run: (job: Job<PayloadOf<D>>, ctx: AttachedContext) => Promise<Outcome | void>;
}

/** DetachedHandler owns its transactions and must be safe to run twice. */
export interface DetachedHandler<D extends AnyJobDefinition = AnyJobDefinition> {
  run: (job: Job<PayloadOf<D>>, ctx: DetachedContext) => Promise<Outcome | Finished | void>;
}

/** BatchContext is the context of a handler that runs many jobs at once, inside one transaction of the runner's (R21). */
export interface BatchContext {
  /**
   * hold as the hold of a single job: no enqueue of this job's key is satisfied by this run from its return on (R11). Throws LeaseLostError when the run no
   * longer holds the job.
   */
  hold(job: Pick<Job, 'id'>): Promise<void>;
  /** signal aborts at the timeout of the call, at a shutdown past its grace, and when one of the jobs is cancelled or its lease lost; its reason says which. */
  readonly signal: AbortSignal;
  /** tx is the transaction that also records the completion of all jobs; dead once they are settled (R4). Its tenant is that of each of them. */
  readonly tx: Transaction;
}

/**
 * BatchHandler runs many jobs of one kind and one tenant in one call and one transaction (R21).
 *
 * It answers a result for each, or nothing where all are done. Nothing commits of a job that it answers with a refusal or an error: the transaction is rolled back, that
 * job is recorded alone, and the others are run again without it. When it throws, each job is run by itself. So it may run twice for an attempt.
 */
export interface BatchHandler<D extends AnyJobDefinition = AnyJobDefinition> {
  runBatch: (jobs: readonly Job<PayloadOf<D>>[], ctx: BatchContext) => Promise<BatchResults | void>;
}

/** JobOf is the job that a handler of this definition gets. */
export type JobOf<D extends AnyJobDefinition> = Job<PayloadOf<D>>;

export type { AnyJobDefinition };
