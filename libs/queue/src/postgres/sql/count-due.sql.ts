import { Statement } from '@holdfast/kernel';

/** DepthRow is how much of a kind is due. */
export interface DepthRow {
  readonly due: string;
  readonly kind: string;
  readonly oldest_ms: number | null;
}

/**
 * Counts the due PENDING jobs of every kind that has pending ones, and of the given kinds (S2).
 *
 * Locks: none. Index: job_claim and job_suspects; the kinds are found by hopping from one to the next, later jobs are not passed.
 */
export const countDue = new Statement<{ readonly kinds: readonly string[] }, DepthRow>({
  name: 'count-due',
  text: (schema) => `
WITH RECURSIVE claimable (kind) AS (
  SELECT (SELECT j.kind FROM ${schema.of('job')} j WHERE j.state = 0 AND NOT j.suspect ORDER BY j.kind LIMIT 1)
  UNION ALL
  SELECT (SELECT j.kind FROM ${schema.of('job')} j WHERE j.state = 0 AND NOT j.suspect AND j.kind > c.kind ORDER BY j.kind LIMIT 1)
    FROM claimable c WHERE c.kind IS NOT NULL
), suspected (kind) AS (
  SELECT (SELECT j.kind FROM ${schema.of('job')} j WHERE j.state = 0 AND j.suspect ORDER BY j.kind LIMIT 1)
  UNION ALL
  SELECT (SELECT j.kind FROM ${schema.of('job')} j WHERE j.state = 0 AND j.suspect AND j.kind > c.kind ORDER BY j.kind LIMIT 1)
    FROM suspected c WHERE c.kind IS NOT NULL
)
SELECT k.kind, sum(n.due)::text AS due, (extract(epoch FROM now() - min(n.oldest)) * 1000)::float8 AS oldest_ms
  FROM (
    SELECT kind FROM claimable WHERE kind IS NOT NULL
    UNION SELECT kind FROM suspected WHERE kind IS NOT NULL
    UNION SELECT unnest($1::text[]) COLLATE "C"
  ) k
  CROSS JOIN LATERAL (
    SELECT c.due, c.oldest FROM generate_series(0, 9) AS p (priority)
      CROSS JOIN LATERAL (
        SELECT count(*) AS due, min(j.due_at) AS oldest
          FROM ${schema.of('job')} j
          WHERE j.state = 0 AND NOT j.suspect AND j.kind = k.kind AND j.priority = p.priority AND j.due_at <= now()
      ) c
    UNION ALL
    SELECT count(*), min(j.due_at) FROM ${schema.of('job')} j WHERE j.state = 0 AND j.suspect AND j.kind = k.kind AND j.due_at <= now()
  ) n
  GROUP BY k.kind`,
  values: (p) => [p.kinds],
});
