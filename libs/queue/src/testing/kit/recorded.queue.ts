import type { Database } from '@holdfast/kernel';
import { JobQueue } from '../../client/job-queue.js';
import type { EncodedRequest } from '../../domain/request.js';
import { DEFAULT_PAYLOAD_LIMIT_BYTES } from '../../domain/request.js';
import type { JobStore } from '../../ports/job-store.js';

/** RecordedRequest is what a handler has enqueued through `ctx.jobs` of a fake context. */
export interface RecordedRequest extends Omit<EncodedRequest, 'payloadJson'> {
  readonly id: string;
  /** payload as it would be stored. */
  readonly payload: unknown;
}

/** recordedQueue makes a JobQueue that checks and encodes requests as always and keeps them in a list, without a database. */
export function recordedQueue(into: RecordedRequest[], tenancy: boolean): JobQueue {
  const store: Partial<JobStore> = {
    enqueueNow: (requests) =>
      Promise.resolve(
        requests.map(({ payloadJson, ...request }) => {
          const id = String(into.length + 1);
          into.push({ ...request, id, payload: JSON.parse(payloadJson) as unknown });
          return { disposition: 'created', id, payloadDiffers: false };
        }),
      ),
    transactions: false,
  };
  return new JobQueue({
    database: { identity: into } as unknown as Database,
    maxAttemptsOf: () => undefined,
    payloadLimitBytes: DEFAULT_PAYLOAD_LIMIT_BYTES,
    store: store as JobStore,
    tenancy,
  });
}
