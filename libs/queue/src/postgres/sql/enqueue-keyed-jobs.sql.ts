import { Statement } from '@holdfast/kernel';
import type { Disposition } from '../../domain/request.js';
import { DUE, type EnqueueParams } from './enqueue-jobs.sql.js';

/** EnqueueKeyedParams are requests with a key as parallel arrays, in order. */
export interface EnqueueKeyedParams extends EnqueueParams {
  readonly dedupeKeys: readonly (string | null)[];
  readonly replacePayloads: readonly boolean[];
  readonly reruns: readonly boolean[];
}

/** EnqueuedRow is what became of a request. */
export interface EnqueuedRow {
  readonly disposition: Disposition;
  readonly id: string;
  readonly payload_differs: boolean;
}

/**
 * Enqueues requests with a key, one after another, by the function enqueue_keyed (Q4, Q8).
 *
 * Locks: at most 16 advisory locks of the transaction, tried and never waited for; no row of others. Index: job_live_keys. Fence: none. The function's
 * own statements see what the requests before it in the batch have written.
 */
export const enqueueKeyedJobs = new Statement<EnqueueKeyedParams, EnqueuedRow>({
  name: 'enqueue-keyed-jobs',
  text: (schema) => `
SELECT e.id::text AS id, e.disposition, e.payload_differs
  FROM unnest($1::text[], $2::text[], $3::text[], $4::smallint[], $5::bigint[], $6::timestamptz[], $7::integer[], $8::text[], $9::smallint[],
      $10::boolean[], $11::boolean[]) WITH ORDINALITY
      AS r (kind, tenant_id, dedupe_key, priority, due_in_ms, due_at, max_attempts, payload, payload_version, rerun, replace_payload, place)
    CROSS JOIN LATERAL ${schema.of('enqueue_keyed')}(r.kind, r.tenant_id, r.dedupe_key, r.priority, ${DUE('r.due_in_ms', 'r.due_at')}, r.max_attempts,
      r.payload::json, r.payload_version, r.rerun, r.replace_payload) e
  ORDER BY r.place`,
  values: (p) => [
    p.kinds,
    p.tenantIds,
    p.dedupeKeys,
    p.priorities,
    p.dueInMs,
    p.dueAt,
    p.maxAttempts,
    p.payloads,
    p.payloadVersions,
    p.reruns,
    p.replacePayloads,
  ],
});
