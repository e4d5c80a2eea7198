import { defineJob } from '../../src/domain/definition.js';
import { type } from '../../src/domain/payload.schema.js';
import type { JobRequest } from '../../src/domain/request.js';

type Payload = { readonly n: number };

const DEFINITIONS = [
  defineJob('bulk.first', { payload: type<Payload>(), priority: 1 }),
  defineJob('bulk.second', { maxAttempts: 'unlimited', payload: type<Payload>(), whenRunning: 'rerun' }),
  defineJob('bulk.third', { payload: type<Payload>(), version: 1 }),
];
const HOUR_MS = 3_600_000;

/** BulkRequest is a request of a batch, with what must become of it. */
export interface BulkRequest {
  /** key names the job that it shares with others of the batch; null for one of its own. */
  readonly key: string | null;
  readonly n: number;
  readonly request: JobRequest;
}

/**
 * bulkRequests makes a batch of every sort mixed: three kinds, half with a key, each key two to three times and under two tenants, priorities,
 * moments, attempts.
 */
export function bulkRequests(count: number): BulkRequest[] {
  return Array.from({ length: count }, (_, n) => {
    const definition = DEFINITIONS[n % DEFINITIONS.length]!;
    const tenantId = n % 7 === 0 ? 'acme' : null;
    const dedupeKey = n % 2 === 0 ? undefined : `key ${(n * 37) % Math.ceil(count / 6)}`;
    const request = definition.request(
      { n },
      {
        ...(dedupeKey === undefined ? {} : { dedupeKey }),
        ...(n % 5 === 0 ? { runIn: '1h' } : n % 5 === 1 ? { runAt: new Date(Date.now() + 2 * HOUR_MS) } : {}),
        ...(n % 11 === 0 ? { maxAttempts: 1 + (n % 100) } : {}),
        ...(n % 4 === 0 ? { priority: n % 10 } : {}),
        tenantId,
      },
    );
    return {
      key: dedupeKey === undefined ? null : [definition.kind, tenantId ?? '', dedupeKey].join('|'),
      n,
      request,
    };
  });
}
