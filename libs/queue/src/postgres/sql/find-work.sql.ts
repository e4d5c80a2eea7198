import { Statement } from '@holdfast/kernel';
import { pausedKindsOf } from './list-paused-kinds.sql.js';

/** WorkRow is what a look for work sees. */
export interface WorkRow {
  /** paused are the kinds that are paused now: jobs of theirs are no work, leases of theirs that ran out are. */
  readonly paused: string[];
  readonly waits: boolean;
}

/**
 * Tells whether a look at these kinds would find anything: a request, a due job or suspect, a lease that may have run out, a request
 * to cancel that no run will see (R18, P8).
 *
 * It is a writing statement that writes nothing, so that a server which has become read-only refuses it: an idle process asks nothing else, and would
 * go on reading from a demoted server for ever (K33).
 *
 * Locks: none of a row. Index: job_request_pk; job_pk for the rows of job_cancel; job_claim, job_suspects and job_leases, one entry of each kind, of job_claim one of each priority too.
 */
export const findWork = new Statement<{ readonly kinds: readonly string[] }, WorkRow>({
  name: 'find-work',
  text: (schema) => `
WITH writable AS (DELETE FROM ${schema.of('job_request')} WHERE false)
SELECT EXISTS (SELECT FROM ${schema.of('job_request')} r ORDER BY r.id LIMIT 1) OR EXISTS (
    SELECT FROM ${schema.of('job_cancel')} c
      WHERE NOT EXISTS (SELECT FROM ${schema.of('job')} j WHERE j.id = c.job_id AND j.state = 1 OFFSET 0)
  ) OR EXISTS (
    SELECT FROM unnest($1::text[]) AS k (kind)
      CROSS JOIN LATERAL (
        SELECT FROM generate_series(0, 9) AS p (priority)
          CROSS JOIN LATERAL (
            SELECT FROM ${schema.of('job')} j
              WHERE j.state = 0 AND NOT j.suspect AND j.kind = k.kind AND j.priority = p.priority AND j.due_at <= now()
              LIMIT 1
          ) c
          WHERE k.kind <> ALL (w.paused)
        UNION ALL
        (SELECT FROM ${schema.of('job')} j WHERE j.state = 0 AND j.suspect AND j.kind = k.kind AND j.due_at <= now() AND k.kind <> ALL (w.paused) LIMIT 1)
        UNION ALL
        (SELECT FROM ${schema.of('job')} j WHERE j.state = 1 AND j.kind = k.kind AND j.lease_until <= now() LIMIT 1)
      ) found
  ) AS waits, w.paused
  FROM (SELECT ${pausedKindsOf(schema)} AS paused OFFSET 0) w`,
  values: (p) => [p.kinds],
});
