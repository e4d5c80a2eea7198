import type { EncodedRequest } from '../domain/request.js';
import { boundedDelay } from './settlement.document.js';
import type { EnqueueJobParams } from './sql/enqueue-job.sql.js';
import type { EnqueueParams } from './sql/enqueue-jobs.sql.js';
import type { EnqueueKeyedParams } from './sql/enqueue-keyed-jobs.sql.js';

const FIRST_MOMENT = Date.parse('0001-01-01T00:00:00Z');
const LAST_MOMENT = Date.parse('9999-12-31T23:59:59Z');

/** requestParams are the parameters of enqueue-job. */
export function requestParams({ dueAt, dueInMs, ...request }: EncodedRequest): EnqueueJobParams {
  return { ...request, dueAt: storableMoment(dueAt), dueInMs: dueInMs === null ? null : boundedDelay(dueInMs) };
}

/** requestArrays turns requests into the parallel arrays of enqueue-jobs. */
export function requestArrays(requests: readonly EncodedRequest[]): EnqueueParams {
  return {
    dueAt: requests.map(({ dueAt }) => storableMoment(dueAt)),
    dueInMs: requests.map(({ dueInMs }) => (dueInMs === null ? null : boundedDelay(dueInMs))),
    kinds: requests.map(({ kind }) => kind),
    maxAttempts: requests.map(({ maxAttempts }) => maxAttempts),
    payloads: requests.map(({ payloadJson }) => payloadJson),
    payloadVersions: requests.map(({ payloadVersion }) => payloadVersion),
    priorities: requests.map(({ priority }) => priority),
    tenantIds: requests.map(({ tenantId }) => tenantId),
  };
}

/** keyedRequestArrays turns requests with a key into the parallel arrays of enqueue-keyed-jobs. */
export function keyedRequestArrays(requests: readonly EncodedRequest[]): EnqueueKeyedParams {
  return {
    ...requestArrays(requests),
    dedupeKeys: requests.map(({ dedupeKey }) => dedupeKey),
    replacePayloads: requests.map(({ replacePayload }) => replacePayload),
    reruns: requests.map(({ whenRunning }) => whenRunning === 'rerun'),
  };
}

/** A year beyond four digits is written by JavaScript in a form that PostgreSQL does not read; such a moment is moved to the end of what it reads. */
function storableMoment(moment: string | null): string | null {
  const at = moment === null ? Number.NaN : Date.parse(moment);
  if (at >= FIRST_MOMENT && at <= LAST_MOMENT) return moment;
  if (Number.isNaN(at)) return moment;
  return new Date(Math.min(Math.max(at, FIRST_MOMENT), LAST_MOMENT)).toISOString();
}
