import { Statement } from '@holdfast/kernel';

/** The most kinds that are looked at: a bound for a table filled with kinds that were assembled from data. */
const MOST_KINDS = 1_000;

/** DeferredRow is how many jobs of a kind wait out an outage. */
export interface DeferredRow {
  readonly deferred: string;
  readonly kind: string;
  readonly oldest_ms: number;
}

/**
 * Counts the PENDING jobs that wait out an outage, by kind (R10).
 *
 * Locks: none. Index: job_deferred, which has these rows alone: hopping from kind to kind, then the entries of each. Fence: none, it only reads.
 */
export const countDeferred = new Statement<object, DeferredRow>({
  name: 'count-deferred',
  text: (schema) => {
    const next = (after: string) =>
      `(SELECT j.kind FROM ${schema.of('job')} j WHERE j.state = 0 AND j.deferred_since IS NOT NULL${after} ORDER BY j.kind LIMIT 1)`;
    return `
WITH RECURSIVE kinds (kind, hop) AS (
  SELECT ${next('')}, 1
  UNION ALL
  SELECT ${next(' AND j.kind > k.kind')}, k.hop + 1 FROM kinds k WHERE k.kind IS NOT NULL AND k.hop < ${MOST_KINDS}
)
SELECT k.kind, n.deferred::text AS deferred, (extract(epoch FROM now() - n.oldest) * 1000)::float8 AS oldest_ms
  FROM kinds k
  CROSS JOIN LATERAL (
    SELECT count(*) AS deferred, min(j.deferred_since) AS oldest FROM ${schema.of('job')} j
      WHERE j.state = 0 AND j.deferred_since IS NOT NULL AND j.kind = k.kind
  ) n
  WHERE k.kind IS NOT NULL AND n.deferred > 0
  ORDER BY k.kind`;
  },
  values: () => [],
});
