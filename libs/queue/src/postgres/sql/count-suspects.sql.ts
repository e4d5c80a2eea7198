import { Statement } from '@holdfast/kernel';

/**
 * Counts the due suspects of the kinds (Q12).
 *
 * Locks: none. Index: job_suspects, one descent per kind.
 */
export const countSuspects = new Statement<{ readonly kinds: readonly string[] }, { due: string }>({
  name: 'count-suspects',
  text: (schema) => `
SELECT coalesce(sum(n.due), 0)::text AS due
  FROM unnest($1::text[]) AS k (kind)
  CROSS JOIN LATERAL (
    SELECT count(*) AS due FROM ${schema.of('job')} j WHERE j.state = 0 AND j.suspect AND j.kind = k.kind AND j.due_at <= now()
  ) n`,
  values: (p) => [p.kinds],
});
