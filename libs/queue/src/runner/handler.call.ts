import type { Job } from '../domain/job.js';
import { type DoneOutcome, done } from '../domain/outcome.js';
import { InvalidInterceptorError } from '../errors/invalid-interceptor.error.js';
import { type BatchResult, batchResults } from '../handlers/batch.results.js';
import type { AttachedContext, BatchContext, DetachedContext } from '../handlers/handler.interface.js';
import type { JobAnswer } from '../handlers/job.interceptor.js';
import type { KindPlan } from './kind.plan.js';

type Next<Answer> = () => Promise<Answer>;

const DONE: DoneOutcome = Object.freeze(done());

/** callBatch is callHandler for many jobs: it answers a result for each, in order. */
export function callBatch(
  plan: KindPlan,
  jobs: readonly Job<never>[],
  ctx: BatchContext,
): Promise<readonly BatchResult[]> {
  const { entry, interceptors } = plan;
  const { definition, source } = entry;
  if (entry.mode !== 'batch') throw new TypeError(`${source} runs no batches.`);
  const ids = jobs.map(({ id }) => id);
  const call = Object.freeze({ ctx, definition, jobs: Object.freeze([...jobs]), source }) as never;
  const handle = async () => batchResults(await entry.resolve().runBatch(jobs, ctx), ids);
  return interceptors.reduceRight<Next<readonly BatchResult[]>>(
    (next, { interceptor, source: from }) =>
      async () =>
        batchResults(await around((once) => interceptor.interceptBatch!(call, once), from, next), ids),
    handle,
  )();
}

/**
 * callHandler is the one place where a handler of single jobs is called, whatever its mode (R20): the interceptors of its kind around it, the outermost first, and
 * innermost the handler, which is resolved for this very call.
 */
export function callHandler(plan: KindPlan, job: Job<never>, ctx: AttachedContext | DetachedContext): Promise<unknown> {
  const { entry, interceptors } = plan;
  const { definition, mode, source } = entry;
  if (mode === 'batch') throw new TypeError(`${source} runs batches.`);
  const call = Object.freeze({ ctx, definition, job, mode, source }) as never;
  const handle: Next<JobAnswer> = async () => {
    const handler = await entry.resolve(job);
    const answer: unknown = await handler.run(job, ctx as never);
    return answer === undefined ? DONE : (answer as JobAnswer);
  };
  return interceptors.reduceRight<Next<JobAnswer>>(
    (next, { interceptor, source: from }) =>
      () =>
        around((once) => interceptor.intercept(call, once), from, next),
    handle,
  )();
}

/**
 * The inner call has always ended when this one does, whatever the interceptor does with it: a transaction may not be committed and a slot not be freed
 * while the handler is still at work.
 */
async function around<Answer, Given>(
  intercept: (once: Next<Answer>) => Promise<Given>,
  source: string,
  next: Next<Answer>,
): Promise<Given> {
  let ended = true;
  let inner: Promise<Answer> | undefined;
  const once: Next<Answer> = () => {
    if (inner) return Promise.reject(new InvalidInterceptorError(source, 'it called next() twice'));
    ended = false;
    inner = next().finally(() => (ended = true));
    // An interceptor that does not look at it must not end the process.
    inner.catch(() => undefined);
    return inner;
  };
  try {
    const answer: Given | undefined = await intercept(once);
    if (!ended) throw new InvalidInterceptorError(source, 'it answered before next() had: wait for it');
    if (answer === undefined)
      throw new InvalidInterceptorError(source, 'it answered nothing: return what next() answers');
    return answer;
  } finally {
    await Promise.allSettled([inner]);
  }
}
