import { Statement } from '@holdfast/kernel';
import { dutyDueAt } from './duty-due.sql.js';

interface SweepDutiesParams {
  /** keep are the duties that this process has. */
  readonly keep: readonly string[];
  readonly olderMs: number;
}

/**
 * Takes away the last runs of duties that have been due for long and that nobody starts: they are no longer in the code (S3).
 *
 * Locks: their rows, skipping locked ones. Index: none, the table has a row for each duty. Fence: one that is in the code after all is due anyway.
 */
export const sweepDuties = new Statement<SweepDutiesParams, { readonly name: string }>({
  name: 'sweep-duties',
  text: (schema) => `
DELETE FROM ${schema.of('leader_duty')} WHERE name = ANY (ARRAY(
    SELECT d.name FROM ${schema.of('leader_duty')} d
      WHERE d.name <> ALL ($1::text[] COLLATE "C")
        AND (${dutyDueAt('d.every')}) < clock_timestamp() - $2::float8 * interval '1 millisecond'
      ORDER BY d.name FOR UPDATE SKIP LOCKED
  ))
  RETURNING name`,
  values: (p) => [p.keep, p.olderMs],
});
