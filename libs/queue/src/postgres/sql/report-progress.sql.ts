import { Statement } from '@holdfast/kernel';
import type { LeasesParams } from './renew-leases.sql.js';

/** ReportParams are the parameters of report-progress. */
export interface ReportParams extends LeasesParams {
  readonly fractions: readonly number[];
}

/**
 * Writes down how far runs have come, in rows of their own, and answers those that still hold their job (R15, Q16).
 *
 * Locks: rows of job_progress, in the order of ids; the job's row is read and never locked, so that a lock on it delays nothing. Index: job_pk and
 * job_progress_pk, row by row. Fence: the token, there only while RUNNING.
 */
export const reportProgress = new Statement<ReportParams, { id: string; token: string }>({
  name: 'report-progress',
  text: (schema) => `
WITH held AS MATERIALIZED (
  SELECT l.id, l.token, l.fraction, j.claimed_at
    FROM unnest($1::bigint[], $2::uuid[], $3::float8[]) AS l (id, token, fraction)
    CROSS JOIN LATERAL (
      SELECT j.claimed_at FROM ${schema.of('job')} j WHERE j.id = l.id AND j.lease_token = l.token OFFSET 0
    ) j
), written AS (
  INSERT INTO ${schema.of('job_progress')} AS p (job_id, claimed_at, fraction)
    SELECT h.id, h.claimed_at, h.fraction FROM held h ORDER BY h.id
    ON CONFLICT (job_id) DO UPDATE SET claimed_at = excluded.claimed_at, fraction = excluded.fraction
)
SELECT h.id::text AS id, h.token::text AS token FROM held h`,
  values: (p) => [p.ids, p.tokens, p.fractions],
});
