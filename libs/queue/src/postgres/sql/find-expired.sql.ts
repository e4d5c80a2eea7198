import { Statement } from '@holdfast/kernel';

/** FindExpiredParams give each final state the time that holds where the definition says nothing; null is for ever. */
export interface FindExpiredParams {
  /** after is the kind before the first that is looked at; empty for all. */
  readonly after: string;
  readonly keepMs: readonly (number | null)[];
  readonly kinds: number;
  readonly states: readonly number[];
}

/** ExpiredRow is a kind with finished jobs, and the states of which some have been kept for long enough. */
export interface ExpiredRow {
  readonly keep_ms: number[];
  readonly kind: string;
  readonly states: number[];
}

/**
 * Finds the kinds with finished jobs, in order, and of each the final states with a job that has been kept for long enough (S5).
 *
 * Locks: none. Index: job_ended, hopping from kind to kind, and its first entry of each kind and state; job_retention_pk. Fence: none, it only reads.
 */
export const findExpired = new Statement<FindExpiredParams, ExpiredRow>({
  name: 'find-expired',
  text: (schema) => {
    const next = (after: string) =>
      `(SELECT j.kind FROM ${schema.of('job')} j WHERE j.state >= 2 AND j.kind > ${after} ORDER BY j.kind LIMIT 1)`;
    return `
WITH RECURSIVE kinds (kind, hop) AS (
  SELECT ${next('$1::text')}, 1
  UNION ALL
  SELECT ${next('k.kind')}, k.hop + 1 FROM kinds k WHERE k.kind IS NOT NULL AND k.hop < $2::integer
)
SELECT k.kind, e.states, e.keep_ms
  FROM kinds k
  CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(p.state ORDER BY p.state), '{}') AS states, coalesce(array_agg(p.keep_ms ORDER BY p.state), '{}') AS keep_ms
      FROM (
        SELECT d.state::int AS state,
            CASE WHEN r.kind IS NULL THEN d.keep_ms ELSE (extract(epoch FROM r.keep) * 1000)::float8 END AS keep_ms
          FROM unnest($3::smallint[], $4::float8[]) AS d (state, keep_ms)
          LEFT JOIN ${schema.of('job_retention')} r ON r.kind = k.kind AND r.state = d.state
      ) p
      CROSS JOIN LATERAL (
        SELECT FROM ${schema.of('job')} j
          WHERE j.kind = k.kind AND j.state = p.state AND j.state >= 2 AND j.finished_at < now() - p.keep_ms * interval '1 millisecond'
          ORDER BY j.finished_at LIMIT 1
      ) oldest
  ) e
  WHERE k.kind IS NOT NULL
  ORDER BY k.kind`;
  },
  values: (p) => [p.after, p.kinds, p.states, p.keepMs],
});
