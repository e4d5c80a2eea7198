import type { Job } from '../domain/job.js';
import { type DoneOutcome, done } from '../domain/outcome.js';
import { InvalidInterceptorError } from '../errors/invalid-interceptor.error.js';
import type { AttachedContext, DetachedContext } from '../handlers/handler.interface.js';
import type { InterceptorEntry } from '../handlers/job-interceptor.registry.js';
import type { JobAnswer } from '../handlers/job.interceptor.js';
import type { KindPlan } from './kind.plan.js';

type Next = () => Promise<JobAnswer>;

const DONE: DoneOutcome = Object.freeze(done());

/**
 * callHandler is the one place where a handler is called, whatever its mode (R20): the interceptors of its kind around it, the outermost first, and
 * innermost the handler, which is resolved for this very call.
 */
export function callHandler(plan: KindPlan, job: Job<never>, ctx: AttachedContext | DetachedContext): Promise<unknown> {
  const { entry, interceptors } = plan;
  const { definition, mode, source } = entry;
  const call = Object.freeze({ ctx, definition, job, mode, source }) as never;
  const handle: Next = async () => {
    const handler = await entry.resolve(job);
    const answer: unknown = await handler.run(job, ctx as never);
    return answer === undefined ? DONE : (answer as JobAnswer);
  };
  return interceptors.reduceRight<Next>((next, interceptor) => () => around(interceptor, call, next), handle)();
}

/**
 * The inner call has always ended when this one does, whatever the interceptor does with it: a transaction may not be committed and a slot not be freed
 * while the handler is still at work.
 */
async function around({ interceptor, source }: InterceptorEntry, call: never, next: Next): Promise<JobAnswer> {
  let ended = true;
  let inner: Promise<JobAnswer> | undefined;
  const once: Next = () => {
    if (inner) return Promise.reject(new InvalidInterceptorError(source, 'it called next() twice'));
    ended = false;
    inner = next().finally(() => (ended = true));
    // An interceptor that does not look at it must not end the process.
    inner.catch(() => undefined);
    return inner;
  };
  try {
    const answer: JobAnswer | undefined = await interceptor.intercept(call, once);
    if (!ended) throw new InvalidInterceptorError(source, 'it answered before next() had: wait for it');
    if (answer === undefined)
      throw new InvalidInterceptorError(source, 'it answered nothing: return what next() answers');
    return answer;
  } finally {
    await Promise.allSettled([inner]);
  }
}
