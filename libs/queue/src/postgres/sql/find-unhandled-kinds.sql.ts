import { Statement } from '@holdfast/kernel';

/** The most kinds that are looked at: a bound for a table filled with kinds that were assembled from data. */
const MOST_KINDS = 1_000;
/** The most kinds that are answered. */
const MOST_UNHANDLED = 100;

/**
 * Finds kinds of live jobs, waiting or running, that no runner which is there runs (S6).
 *
 * Locks: none. Index: job_claim, job_suspects and job_leases, hopping from kind to kind, 1 000 hops at most in each.
 */
export const findUnhandledKinds = new Statement<{ readonly withinMs: number }, { readonly kind: string }>({
  name: 'find-unhandled-kinds',
  text: (schema) => {
    const hops = (name: string, which: string) => `${name} (kind, hop) AS (
  SELECT (SELECT j.kind FROM ${schema.of('job')} j WHERE ${which} ORDER BY j.kind LIMIT 1), 1
  UNION ALL
  SELECT (SELECT j.kind FROM ${schema.of('job')} j WHERE ${which} AND j.kind > c.kind ORDER BY j.kind LIMIT 1), c.hop + 1
    FROM ${name} c WHERE c.kind IS NOT NULL AND c.hop < ${MOST_KINDS}
)`;
    return `
WITH RECURSIVE ${hops('claimable', 'j.state = 0 AND NOT j.suspect')}, ${hops('suspected', 'j.state = 0 AND j.suspect')},
  ${hops('leased', 'j.state = 1')}
SELECT k.kind
  FROM (SELECT kind FROM claimable UNION SELECT kind FROM suspected UNION SELECT kind FROM leased) k
  WHERE k.kind IS NOT NULL AND NOT EXISTS (
    SELECT FROM ${schema.of('runner_presence')} r
      WHERE k.kind = ANY (r.kinds) AND r.seen_at >= clock_timestamp() - $1::float8 * interval '1 millisecond'
  )
  ORDER BY k.kind
  LIMIT ${MOST_UNHANDLED}`;
  },
  values: (p) => [p.withinMs],
});
