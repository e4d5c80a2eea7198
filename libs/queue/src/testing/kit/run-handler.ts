import { parseDuration } from '@holdfast/kernel';
import type { AnyJobDefinition, PayloadInputOf } from '../../domain/definition.js';
import type { JobStateName } from '../../domain/job-state.js';
import type { JobStatus } from '../../domain/job.status.js';
import type { Outcome } from '../../domain/outcome.js';
import { jobRequest, type RequestOptions } from '../../domain/request.js';
import { JobInterceptorRegistry } from '../../handlers/job-interceptor.registry.js';
import type { ClaimedJob } from '../../ports/job-store.js';
import type { JobEvent } from '../../ports/runner.events.js';
import { deleteClaimedJob } from '../../postgres/sql/delete-claimed-job.sql.js';
import type { EnqueuedJob } from './enqueued.job.js';
import { KitRunner } from './kit.runner.js';
import { NamedClaim } from './named.claim.js';
import { RunRecord } from './run.record.js';
import { encodeFor, handlerOf, type TestedApplication, type TestedQueue, testedQueue } from './tested.queue.js';

/** RunHandlerOptions say how the job is enqueued, as any request, and how it is run. */
export interface RunHandlerOptions extends Omit<RequestOptions, 'onDuplicate' | 'runAt' | 'runIn'> {
  /** attempt is which attempt the run is: `attempt: 8` is the last one of eight. Default 1. */
  readonly attempt?: number;
  /** deadline for the run, after which `runHandler` rejects. Default `'60s'`. */
  readonly deadline?: string;
  /** rollback leaves nothing behind: what would have been committed is rolled back, and the job's row is removed. Default false. */
  readonly rollback?: boolean;
}

/** HandlerRun is how one attempt went. */
export interface HandlerRun {
  /** enqueued is what the transaction that holds its completion has enqueued; with `in: 'own'` a job is enqueued in another one. */
  readonly enqueued: readonly EnqueuedJob[];
  /** error is why the attempt failed: what the handler threw, or what failed at its commit. Undefined where it did not fail. */
  readonly error: unknown;
  /** events are those that a runner reports of this attempt, the last one tells how it ended. */
  readonly events: readonly JobEvent[];
  readonly id: string;
  /** outcome is what it ended with: done, repeat or refuse; undefined where it failed. */
  readonly outcome: Outcome | undefined;
  /** state is the job's afterwards, or with `rollback` the one it would have. */
  readonly state: JobStateName;
  /** status is the job as `Jobs.find` tells it afterwards; undefined with `rollback`. */
  readonly status: JobStatus | undefined;
}

const OUTERMOST = -Number.MAX_VALUE;

/**
 * runHandler runs the handler of a definition once, as one attempt at a job: found as it was discovered, with its interceptors, made for the job where it is
 * request-scoped, attached in the transaction that also completes the job, detached with `ctx.finish`; settled, recorded and reported as by a runner.
 * No runner need be running, and one that is does not get the job.
 *
 * It does not reject where the handler fails: `error` and `state` tell. It rejects with KitError when the application has no such handler or the deadline
 * is over, and with a RefusedRequestError for a payload or an option that an enqueue would refuse.
 *
 * With `{ rollback: true }` a handler's own transactions, other than that of the completion, stay as they are; `afterCommit` callbacks are not called.
 */
export async function runHandler<D extends AnyJobDefinition>(
  app: TestedApplication,
  definition: D,
  payload: PayloadInputOf<D>,
  options: RunHandlerOptions = {},
): Promise<HandlerRun> {
  const { attempt, deadline = '60s', rollback = false, ...request } = options;
  const queue = testedQueue(app);
  handlerOf(queue, definition);
  const deadlineMs = parseDuration(deadline);
  const encoded = await encodeFor(queue, jobRequest(definition, payload, request));
  const record = new RunRecord(queue, rollback);
  const runner = recordedRunner(queue, definition.kind, record, deadlineMs);
  try {
    const claimed = await new NamedClaim(queue, runner.plans.get(definition.kind)!).fresh(encoded, attempt ?? null);
    try {
      const [end] = await runner.run([claimed]);
      const { id } = claimed;
      const status = rollback ? undefined : await queue.lookup.find(id);
      const error = end && 'error' in end ? end.error : undefined;
      const { enqueued, outcome } = record;
      const state = status?.state ?? record.state;
      return { enqueued: error ? [] : enqueued, error, events: [...runner.events], id, outcome, state, status };
    } finally {
      if (rollback) await removed(queue, claimed);
    }
  } finally {
    await runner.close();
  }
}

function recordedRunner(queue: TestedQueue, kind: string, record: RunRecord, deadlineMs: number): KitRunner {
  const interceptors = new JobInterceptorRegistry();
  const source = 'the testing kit';
  interceptors.register({ interceptor: record.interceptor, order: OUTERMOST, source });
  for (const entry of queue.interceptors.around(kind)) interceptors.register(entry);
  return new KitRunner(queue, { changes: record.changes, deadlineMs, interceptors, kinds: [kind], slots: 1 });
}

async function removed({ connections, options }: TestedQueue, { lease }: ClaimedJob): Promise<void> {
  await deleteClaimedJob.run(connections, options.schema, lease);
}
