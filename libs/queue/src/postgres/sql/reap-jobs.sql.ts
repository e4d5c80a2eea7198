import { Statement } from '@holdfast/kernel';
import { KEPT_FAILURES } from '../../domain/failure.js';
import { ENDED, followUps } from './follow-ups.sql.js';

/** ReapParams are the parameters of reap-jobs. */
export interface ReapParams {
  readonly kinds: readonly string[];
  readonly limit: number;
}

/** ReapedRow is a job that was taken back. */
export interface ReapedRow {
  readonly cancelled: boolean;
  readonly dead: boolean;
  readonly id: string;
  readonly kind: string;
}

/**
 * Takes back jobs whose lease ran out and was not renewed (Q12): PENDING, due now and suspect, or DEAD_LETTER when their attempts are used up.
 *
 * With them go jobs that were asked to be cancelled while they ran and whose run ended before that was seen; and requests to cancel whose job is over (R16).
 *
 * Locks: each row it takes, FOR UPDATE SKIP LOCKED: a run that is just being settled is left to its settlement. Index: job_leases, one descent per
 * kind; job_renewal by its key. Fence: the state and the expiry are looked at again on the locked row. What counts is the lease alone, no
 * list of living processes (K24).
 */
export const reapJobs = new Statement<ReapParams, ReapedRow>({
  name: 'reap-jobs',
  text: (schema) => `
WITH late AS (
  UPDATE ${schema.of('job')} j
    SET state = 5, finished_at = now(), suspect = false, losses = 0, deferred_since = NULL
    WHERE j.id = ANY (ARRAY(
      SELECT asked.id FROM ${schema.of('job_cancel')} c
        CROSS JOIN LATERAL (SELECT j.id FROM ${schema.of('job')} j WHERE j.id = c.job_id AND j.state = 0 FOR UPDATE OF j SKIP LOCKED) asked
        LIMIT $2::integer
    ))
    RETURNING ${ENDED}
), reaped AS (
UPDATE ${schema.of('job')} j
  SET (state, finished_at, suspect, due_at, error_code) = (
      SELECT CASE WHEN d.asked THEN 5 WHEN d.dead THEN 4 ELSE 0 END, CASE WHEN d.asked OR d.dead THEN now() END, NOT (d.asked OR d.dead),
          CASE WHEN d.asked OR d.dead THEN j.due_at ELSE now() END,
          CASE WHEN d.dead AND NOT d.asked THEN 'queue.attempts_exhausted' ELSE 'queue.lease_expired' END
        FROM (
          SELECT j.max_attempts IS NOT NULL AND j.attempt >= j.max_attempts AS dead,
              EXISTS (SELECT FROM ${schema.of('job_cancel')} c WHERE c.job_id = j.id) AS asked
        ) d
    ),
    losses = 0, deferred_since = NULL, lease_token = NULL, lease_owner = NULL, lease_until = NULL,
    failures = (
      SELECT jsonb_agg(f.failure ORDER BY f.place)::json
        FROM (
          SELECT k.failure, k.place
            FROM (
              SELECT o.failure, o.place FROM jsonb_array_elements(coalesce(j.failures::jsonb, '[]')) WITH ORDINALITY AS o (failure, place)
              UNION ALL
              SELECT jsonb_build_object('attempt', j.attempt, 'code', 'queue.lease_expired', 'at', now()), 1000
            ) k ORDER BY k.place DESC LIMIT ${KEPT_FAILURES}
        ) f
    )
  WHERE j.id = ANY (ARRAY(
      SELECT expired.id
        FROM unnest($1::text[]) AS k (kind)
        CROSS JOIN LATERAL (
          SELECT j.id
            FROM ${schema.of('job')} j
            WHERE j.state = 1 AND j.kind = k.kind AND j.lease_until < now()
              AND NOT EXISTS (
                SELECT FROM ${schema.of('job_renewal')} r WHERE r.job_id = j.id AND r.token = j.lease_token AND r.until >= now() OFFSET 0
              )
            ORDER BY j.lease_until
            LIMIT $2::integer
            FOR UPDATE OF j SKIP LOCKED
        ) expired
        LIMIT $2::integer
    ))
  RETURNING ${ENDED}
), follow_ups AS (
  ${followUps(schema, '(SELECT * FROM late UNION ALL SELECT * FROM reaped)')}
), over AS (
  DELETE FROM ${schema.of('job_cancel')} c
    WHERE c.job_id = ANY (ARRAY(
      SELECT c.job_id FROM ${schema.of('job_cancel')} c
        WHERE NOT EXISTS (SELECT FROM ${schema.of('job')} j WHERE j.id = c.job_id AND j.state IN (0, 1) OFFSET 0)
          OR c.job_id IN (SELECT l.id FROM late l UNION ALL SELECT r.id FROM reaped r WHERE r.state = 5)
        FOR UPDATE OF c SKIP LOCKED
    ))
)
SELECT r.id::text AS id, r.kind, r.state = 4 AS dead, r.state = 5 AS cancelled FROM reaped r
UNION ALL
SELECT l.id::text, l.kind, false, true FROM late l`,
  values: (p) => [p.kinds, p.limit],
});
