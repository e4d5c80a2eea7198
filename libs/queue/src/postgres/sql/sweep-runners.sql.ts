import { Statement } from '@holdfast/kernel';

/**
 * Takes away runners that have not been heard of for long: their processes ended without a word.
 *
 * Locks: their rows, skipping locked ones. Index: none, the table has a row for each runner. Fence: one that is alive after all announces itself again.
 */
export const sweepRunners = new Statement<{ readonly olderMs: number }, { readonly id: string }>({
  name: 'sweep-runners',
  text: (schema) => `
DELETE FROM ${schema.of('runner_presence')} WHERE id = ANY (ARRAY(
    SELECT id FROM ${schema.of('runner_presence')}
      WHERE seen_at < clock_timestamp() - $1::float8 * interval '1 millisecond'
      ORDER BY id FOR UPDATE SKIP LOCKED
  ))
  RETURNING id`,
  values: (p) => [p.olderMs],
});
