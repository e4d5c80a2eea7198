import { Statement } from '@holdfast/kernel';

/** The most kinds that are looked at: a bound for a table filled with kinds that were assembled from data. */
const MOST_KINDS = 1_000;
/** The most unknown kinds that are answered. */
const MOST_UNKNOWN = 100;

/**
 * Finds kinds of pending jobs that are not among the given ones (Q11).
 *
 * Locks: none. Index: job_claim and job_suspects, hopping from kind to kind, ${MOST_KINDS} hops at most in each.
 */
export const findUnknownKinds = new Statement<{ readonly kinds: readonly string[] }, { kind: string }>({
  name: 'find-unknown-kinds',
  text: (schema) => {
    const hops = (name: string, which: string) => `${name} (kind, hop) AS (
  SELECT (SELECT j.kind FROM ${schema.of('job')} j WHERE j.state = 0 AND ${which} ORDER BY j.kind LIMIT 1), 1
  UNION ALL
  SELECT (SELECT j.kind FROM ${schema.of('job')} j WHERE j.state = 0 AND ${which} AND j.kind > c.kind ORDER BY j.kind LIMIT 1), c.hop + 1
    FROM ${name} c WHERE c.kind IS NOT NULL AND c.hop < ${MOST_KINDS}
)`;
    return `
WITH RECURSIVE ${hops('claimable', 'NOT j.suspect')}, ${hops('suspected', 'j.suspect')}
SELECT k.kind
  FROM (SELECT kind FROM claimable UNION SELECT kind FROM suspected) k
  WHERE k.kind <> ALL ($1::text[])
  ORDER BY k.kind
  LIMIT ${MOST_UNKNOWN}`;
  },
  values: (p) => [p.kinds],
});
