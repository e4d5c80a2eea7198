import { Statement } from '@holdfast/kernel';

/** ListEnqueuedParams narrow down which jobs are listed: those of a kind (null: of any) whose id is above `afterId`. */
export interface ListEnqueuedParams {
  readonly afterId: string;
  readonly kind: string | null;
  readonly limit: number;
}

/** EnqueuedRow is a job, or a request that is no job yet, with its payload. */
export interface EnqueuedRow {
  readonly dedupe_key: string | null;
  readonly due_ms: number;
  readonly id: string;
  readonly kind: string;
  readonly payload: string;
  readonly payload_version: number;
  readonly priority: number;
  readonly state: number;
  readonly tenant_id: string | null;
}

/**
 * Lists what has been enqueued, jobs and requests, the oldest first: for the testing kit, whose user looks at payloads. In an open transaction it sees
 * what that has enqueued too.
 *
 * Locks: none. Index: the primary keys; it reads every row above `afterId`. Fence: none, it only reads.
 */
export const listEnqueued = new Statement<ListEnqueuedParams, EnqueuedRow>({
  name: 'list-enqueued',
  text: (schema) => {
    const rows = (table: string, state: string) => `
SELECT id::text AS id, kind, tenant_id, dedupe_key, priority::int AS priority, ${state} AS state, payload::text AS payload,
    payload_version::int AS payload_version, (extract(epoch FROM due_at) * 1000)::float8 AS due_ms, id AS place
  FROM ${schema.of(table)} WHERE id > $1::bigint AND ($2::text IS NULL OR kind = $2::text)`;
    return `SELECT * FROM (${rows('job', 'state::int')} UNION ALL ${rows('job_request', '0')}) listed ORDER BY place LIMIT $3::integer`;
  },
  values: (p) => [p.afterId, p.kind, p.limit],
});
