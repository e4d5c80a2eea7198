import { Statement } from '@holdfast/kernel';
import type { JobRow } from '../job.row.js';
import { CLAIMED_COLUMNS } from './claimed-columns.sql.js';

/** ClaimParams are the parameters of claim-jobs; the arrays go by kind, the marks by kind and priority (ten to a kind). */
export interface ClaimParams {
  readonly kinds: readonly string[];
  readonly leaseMs: readonly number[];
  readonly limit: number;
  readonly limits: readonly number[];
  readonly markIds: readonly string[];
  readonly marks: readonly string[];
  readonly owner: string;
  readonly token: string;
}

/**
 * Takes due jobs under new leases (Q11, Q14).
 *
 * Locks: each row it takes, FOR UPDATE SKIP LOCKED; it never waits. Every level is LATERAL with a LIMIT, so each plan is the same nested loop, which
 * stops pulling rows, and so stops locking them, at the limit; `id = ANY (ARRAY(…))` reaches them by the primary key. A join with the
 * limited rows, or `IN`, may be planned to read the whole table or to take more than the limit.
 * Index: job_claim, one descent per kind and priority from the mark on: neither other kinds, other priorities nor later jobs are passed. A mark is at
 * least a second old, for those that commit late.
 * Fence: none; it makes the lease. One clock: now() of the statement.
 */
export const claimJobs = new Statement<ClaimParams, JobRow>({
  name: 'claim-jobs',
  text: (schema) => `
WITH claimed AS (
  UPDATE ${schema.of('job')} j
    SET state = 1, attempt = j.attempt + 1, lease_token = $7::uuid, lease_owner = $8::text, claimed_at = now(),
      lease_until = now() + ($3::bigint[])[array_position($1::text[], j.kind)] * interval '1 millisecond'
    WHERE j.id = ANY (ARRAY(
      SELECT due.id
        FROM unnest($1::text[], $2::integer[]) WITH ORDINALITY AS k (kind, most, place)
        CROSS JOIN LATERAL (
          SELECT row.id
            FROM generate_series(0, 9) AS p (priority)
            CROSS JOIN LATERAL (
              SELECT j.id
                FROM ${schema.of('job')} j
                WHERE j.state = 0 AND NOT j.suspect AND j.kind = k.kind AND j.priority = p.priority AND j.due_at <= now()
                  AND (j.due_at, j.id) >= (
                    least(($5::timestamptz[])[k.place * 10 - 9 + p.priority], now() - interval '1 second'),
                    CASE WHEN ($5::timestamptz[])[k.place * 10 - 9 + p.priority] < now() - interval '1 second'
                      THEN ($6::bigint[])[k.place * 10 - 9 + p.priority] ELSE 0 END)
                ORDER BY j.due_at, j.id
                LIMIT k.most
                FOR UPDATE SKIP LOCKED
            ) row
            LIMIT k.most
        ) due
        LIMIT $4::integer
    ))
    RETURNING ${CLAIMED_COLUMNS}
)
SELECT * FROM claimed c ORDER BY array_position($1::text[], c.kind), c.priority, c.due_ms, c.id::bigint`,
  values: (p) => [p.kinds, p.limits, p.leaseMs, p.limit, p.marks, p.markIds, p.token, p.owner],
});
