import { Statement } from '@holdfast/kernel';

/** EnqueueParams are requests as parallel arrays, in order. */
export interface EnqueueParams {
  readonly dueAt: readonly (string | null)[];
  readonly dueInMs: readonly (number | null)[];
  readonly kinds: readonly string[];
  readonly maxAttempts: readonly (number | null)[];
  readonly payloads: readonly string[];
  readonly payloadVersions: readonly number[];
  readonly priorities: readonly number[];
  readonly tenantIds: readonly (string | null)[];
}

/** DUE is the moment of a request: after a delay, at a moment, or now, by the database's clock. */
export const DUE = (inMs: string, at: string): string =>
  `coalesce(clock_timestamp() + ${inMs} * interval '1 millisecond', ${at}, clock_timestamp())`;

/**
 * Inserts jobs without a key, as they are; answers their ids in order (Q1, Q8): ids are given after the sort, so they ascend with the requests.
 * The id is the column's default, so that a role that may only enqueue can choose none.
 *
 * Locks: none but the new rows. Index: none is read. Fence: none.
 */
export const enqueueJobs = new Statement<EnqueueParams, { id: string }>({
  name: 'enqueue-jobs',
  text: (schema) => `
WITH inserted AS (
  INSERT INTO ${schema.of('job')} (kind, tenant_id, priority, due_at, max_attempts, payload, payload_version)
    SELECT r.kind, r.tenant_id, r.priority, ${DUE('r.due_in_ms', 'r.due_at')}, r.max_attempts, r.payload::json, r.payload_version
      FROM unnest($1::text[], $2::text[], $3::smallint[], $4::bigint[], $5::timestamptz[], $6::integer[], $7::text[], $8::smallint[])
        WITH ORDINALITY AS r (kind, tenant_id, priority, due_in_ms, due_at, max_attempts, payload, payload_version, place)
      ORDER BY r.place
    RETURNING id
)
SELECT i.id::text AS id FROM inserted i ORDER BY i.id`,
  values: (p) => [p.kinds, p.tenantIds, p.priorities, p.dueInMs, p.dueAt, p.maxAttempts, p.payloads, p.payloadVersions],
});
