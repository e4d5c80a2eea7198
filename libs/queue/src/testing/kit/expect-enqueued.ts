import { executorOf, SchemaName, type SqlExecutor, type TransactionHandle } from '@holdfast/kernel';
import type { AnyJobDefinition, PayloadInputOf } from '../../domain/definition.js';
import type { JobStateName } from '../../domain/job-state.js';
import type { RequestOptions } from '../../domain/request.js';
import { type EnqueuedJob, enqueuedJobs } from './enqueued.job.js';
import { NotEnqueuedError } from './not-enqueued.error.js';
import { differences } from './payload.match.js';
import { isTestedApplication, type TestedApplication, testedQueue } from './tested.queue.js';

/** PartialOf is a part of a value: fields may be left out at every depth. */
export type PartialOf<T> = T extends readonly unknown[] | Date
  ? T
  : T extends object
    ? { readonly [Name in keyof T]?: PartialOf<T[Name]> }
    : T;

/** PayloadMatcher is a part of the stored payload, or a function that looks at it. */
export type PayloadMatcher<D extends AnyJobDefinition> =
  PartialOf<PayloadInputOf<D>> | ((payload: PayloadInputOf<D>, job: EnqueuedJob) => boolean);

/** ExpectEnqueuedOptions say where to look, and for what besides the payload. */
export interface ExpectEnqueuedOptions extends Pick<RequestOptions, 'dedupeKey' | 'priority' | 'tenantId'> {
  /**
   * in: the application (or queue), for what is committed; or an open transaction, as an enqueue takes it, for what that has enqueued too.
   */
  readonly in: TestedApplication | TransactionHandle;
  /** schema of the queue's tables where `in` is a transaction. Default `holdfast`. */
  readonly schema?: string;
  /** state the jobs are in. Default any: a job that has run was enqueued as well. */
  readonly state?: JobStateName;
  /** times is how many there are, exactly; 0 for none. Default at least one. */
  readonly times?: number;
}

/**
 * expectEnqueued looks whether jobs of a definition have been enqueued, and answers them, the oldest first.
 *
 * The payload is compared as it is stored, before `codec.decode`, upcasts and the schema's own changes: a part of it, to which more may belong, or a
 * function. Requests that met a live job of their key leave none of their own. Rejects with NotEnqueuedError, which shows what is there and where it
 * differs.
 */
export async function expectEnqueued<D extends AnyJobDefinition>(
  definition: D,
  matcher: PayloadMatcher<D> | undefined,
  options: ExpectEnqueuedOptions,
): Promise<EnqueuedJob[]> {
  const { executor, schema } = placeOf(options);
  const { kind } = definition;
  const candidates = await enqueuedJobs(executor, schema, { kind });
  const found: EnqueuedJob[] = [];
  const others: { readonly job: EnqueuedJob; readonly differences: readonly string[] }[] = [];
  for (const job of candidates) {
    const wrong = [...outside(job, options), ...payloadDifferences(matcher, job)];
    if (wrong.length === 0) found.push(job);
    else others.push({ job, differences: wrong });
  }
  const { times } = options;
  if (times === undefined ? found.length > 0 : found.length === times) return found;
  const elsewhere = candidates.length > 0 ? [] : await enqueuedJobs(executor, schema);
  throw new NotEnqueuedError({ elsewhere, expected: matcher, found, kind, others, times });
}

function outside(job: EnqueuedJob, { dedupeKey, priority, state, tenantId }: ExpectEnqueuedOptions): string[] {
  const wanted = { dedupeKey, priority, state, tenantId };
  return Object.entries(wanted)
    .filter(([, value]) => value !== undefined)
    .flatMap(([name, value]) => differences(value, job[name as keyof typeof wanted], name));
}

function payloadDifferences<D extends AnyJobDefinition>(
  matcher: PayloadMatcher<D> | undefined,
  job: EnqueuedJob,
): string[] {
  if (matcher === undefined) return [];
  if (typeof matcher !== 'function') return differences(matcher, job.payload);
  const look: (payload: never, job: EnqueuedJob) => unknown = matcher;
  return look(job.payload as never, job) ? [] : ['the function answered false'];
}

function placeOf({ in: place, schema = 'holdfast' }: ExpectEnqueuedOptions): {
  executor: SqlExecutor;
  schema: SchemaName;
} {
  if (!isTestedApplication(place)) return { executor: executorOf(place), schema: new SchemaName(schema) };
  const { connections, options } = testedQueue(place);
  return { executor: connections, schema: options.schema };
}
