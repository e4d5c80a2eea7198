import { Statement } from '@holdfast/kernel';

/** FindFinishedParams say which jobs are wanted that have ended. */
export interface FindFinishedParams {
  readonly firstKind: string;
  readonly lastKind: string;
  readonly limit: number;
  readonly olderThanMs: number;
  readonly state: number;
  readonly tenantId: string | null;
}

/** FinishedRow is a job that ended before a moment, in microseconds since 1970, which is the same in every row. */
export interface FinishedRow {
  readonly before_us: string;
  readonly id: string;
}

/** The most kinds that are looked at: a bound for a table filled with kinds that were assembled from data. */
const MOST_KINDS = 1_000;

/**
 * Finds jobs that ended in a state and long enough ago, of each kind the first to end first.
 *
 * Locks: none. Index: job_ended, hopping from kind to kind. Fence: none; whoever removes them looks again.
 */
export const findFinished = new Statement<FindFinishedParams, FinishedRow>({
  name: 'find-finished',
  text: (schema) => {
    const job = schema.of('job');
    const hop = (after: string) =>
      `SELECT j.kind FROM ${job} j WHERE j.state >= 2 AND ${after} AND j.kind <= $3::text ORDER BY j.kind LIMIT 1`;
    const before = `now() - $4::float8 * interval '1 millisecond'`;
    return `
WITH RECURSIVE kinds (kind, hop) AS (
  SELECT (${hop('j.kind >= $2::text')}), 1
  UNION ALL
  SELECT (${hop('j.kind > k.kind')}), k.hop + 1 FROM kinds k WHERE k.kind IS NOT NULL AND k.hop < ${MOST_KINDS}
)
SELECT f.id::text AS id, (extract(epoch FROM ${before}) * 1000000)::bigint::text AS before_us
  FROM kinds k
  CROSS JOIN LATERAL (
    SELECT j.id FROM ${job} j
      WHERE j.state = $1::smallint AND j.state >= 2 AND j.kind = k.kind AND j.finished_at < ${before}
        AND ($5::text IS NULL OR j.tenant_id = $5::text)
      ORDER BY j.finished_at, j.id LIMIT $6::integer
  ) f
  LIMIT $6::integer`;
  },
  values: (p) => [p.state, p.firstKind, p.lastKind, p.olderThanMs, p.tenantId, p.limit],
});
