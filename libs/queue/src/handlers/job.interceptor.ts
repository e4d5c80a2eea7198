import type { AnyJobDefinition, JobDefinition, PayloadOf } from '../domain/definition.js';
import type { Job } from '../domain/job.js';
import type { Outcome } from '../domain/outcome.js';
import type { BatchResult, BatchResults } from './batch.results.js';
import type { AttachedContext, BatchContext, DetachedContext, Finished } from './handler.interface.js';

/** JobAnswer is what a call ended with: an outcome, or what `ctx.finish` answered. A handler that returns nothing has answered `done()`. */
export type JobAnswer = Finished | Outcome;

/** JobCall is one call of a handler as its interceptors see it: what the handler gets, and where it comes from. */
export type JobCall<D extends AnyJobDefinition = JobDefinition> = {
  readonly definition: D;
  readonly job: Job<PayloadOf<D>>;
  /** source names the handler's class and module, for messages. */
  readonly source: string;
} & (
  | { readonly ctx: AttachedContext; readonly mode: 'attached' }
  | { readonly ctx: DetachedContext; readonly mode: 'detached' }
);

/** BatchCall is one call of a batch handler as its interceptors see it (R21). */
export interface BatchCall<D extends AnyJobDefinition = JobDefinition> {
  readonly ctx: BatchContext;
  readonly definition: D;
  readonly jobs: readonly Job<PayloadOf<D>>[];
  /** source names the handler's class and module, for messages. */
  readonly source: string;
}

/**
 * JobInterceptor stands around every handler call, attached and detached: `@InterceptJobs()` on a provider, or `queue.intercept(interceptor)` (R20).
 *
 * It runs inside the attempt. Timeout, signal and, where the handler is attached, its transaction surround it: what it writes commits with the
 * completion or not at all, and what it throws is the attempt's failure. It cannot make a lost lease, a timeout or an aborted transaction good again:
 * the fenced completion comes after it.
 */
export abstract class JobInterceptor<D extends AnyJobDefinition = JobDefinition> {
  /**
   * intercept answers what `next()` answered, or an outcome in its place; without `next()` the handler does not run. `next` calls the inner
   * interceptors and the handler, once; it rejects with what they throw. Wait for it: InvalidInterceptorError fails an attempt whose interceptor
   * answers nothing, calls `next` twice, or answers before `next()` has.
   */
  abstract intercept(call: JobCall<D>, next: () => Promise<JobAnswer>): Promise<JobAnswer>;

  /**
   * interceptBatch as intercept, around the call of a batch handler: `next` answers a result for each job, in order. An interceptor without it cannot stand around batches, and
   * is refused at the start where it would: InvalidInterceptorError.
   */
  interceptBatch?(call: BatchCall<D>, next: () => Promise<readonly BatchResult[]>): Promise<BatchResults>;
}

/** Intercepting is what an interceptor of these definitions must be able to do; that of others does not fit. */
export interface Intercepting<D extends AnyJobDefinition> {
  readonly intercept: (call: JobCall<D>, next: () => Promise<JobAnswer>) => Promise<JobAnswer>;
  readonly interceptBatch?: (call: BatchCall<D>, next: () => Promise<readonly BatchResult[]>) => Promise<BatchResults>;
}

/** InterceptOptions say which calls an interceptor stands around, and how far outside. */
export interface InterceptOptions<D extends AnyJobDefinition = AnyJobDefinition> {
  /** only these definitions. Default all. */
  readonly only?: readonly D[];
  /** order: a lower one is further outside; equal ones stand in the order of their registration. Default 0. */
  readonly order?: number;
}
