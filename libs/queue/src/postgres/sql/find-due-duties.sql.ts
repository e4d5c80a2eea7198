import { Statement } from '@holdfast/kernel';
import { dutyDueAt } from './duty-due.sql.js';

/** DueDutyRow is a duty, and in how long it is due; 0 or less: it is. */
export interface DueDutyRow {
  readonly due_in_ms: number;
  readonly name: string;
}

interface DueDutiesParams {
  readonly everyMs: readonly number[];
  readonly names: readonly string[];
}

/**
 * Reads in how long each of the given duties is due, the first first; one that never ran is due for ever (S3).
 *
 * Locks: none. Index: leader_duty_pk.
 */
export const findDueDuties = new Statement<DueDutiesParams, DueDutyRow>({
  name: 'find-due-duties',
  text: (schema) => `
SELECT p.name,
    coalesce(extract(epoch FROM (${dutyDueAt('p.every')}) - clock_timestamp()) * 1000, -1e12)::float8 AS due_in_ms
  FROM (
    SELECT g.name, g.every_ms * interval '1 millisecond' AS every
      FROM unnest($1::text[], $2::float8[]) AS g (name, every_ms)
  ) p
  LEFT JOIN ${schema.of('leader_duty')} d ON d.name = p.name COLLATE "C"
  ORDER BY due_in_ms, p.name`,
  values: (p) => [p.names, p.everyMs],
});
