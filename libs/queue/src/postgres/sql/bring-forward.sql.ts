import { Statement } from '@holdfast/kernel';

/** BringForwardParams are the kinds whose time passes, and how much of it may. */
export interface BringForwardParams {
  readonly kinds: readonly string[];
  readonly withinMs: number;
}

/**
 * Lets the time of waiting jobs of these kinds pass, for the testing kit: all of them move forward together until the first of them is due, where it would
 * be due within `withinMs`. The order among them stays. It answers by how much, and no row where nothing waits that long.
 *
 * Locks: the rows it moves, in the order of their ids. Index: job_claim and job_suspects, every waiting row of the kinds. Fence: none, PENDING is looked
 * at again on the locked row.
 */
export const bringForward = new Statement<BringForwardParams, { moved_ms: number }>({
  name: 'bring-forward',
  text: (schema) => `
WITH first AS (
  SELECT min(j.due_at) - now() AS by FROM ${schema.of('job')} j WHERE j.state = 0 AND j.kind = ANY ($1::text[]) AND j.due_at > now()
), waiting AS (
  SELECT j.id FROM ${schema.of('job')} j, first
    WHERE j.state = 0 AND j.kind = ANY ($1::text[]) AND j.due_at > now() AND first.by <= $2::bigint * interval '1 millisecond'
    ORDER BY j.id
    FOR UPDATE OF j
), moved AS (
  UPDATE ${schema.of('job')} j SET due_at = j.due_at - first.by FROM waiting, first WHERE j.id = waiting.id AND j.state = 0 RETURNING first.by
)
SELECT (extract(epoch FROM by) * 1000)::float8 AS moved_ms FROM moved LIMIT 1`,
  values: (p) => [p.kinds, p.withinMs],
});
