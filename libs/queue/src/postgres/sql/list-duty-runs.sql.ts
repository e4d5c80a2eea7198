import { Statement } from '@holdfast/kernel';
import { dutyDueAt } from './duty-due.sql.js';

/** DutyRunRow is the last run of a duty. */
export interface DutyRunRow {
  readonly deadline_ms: number;
  readonly due_in_ms: number;
  readonly ended_at: Date | null;
  readonly error_class: string | null;
  readonly error_code: string | null;
  readonly every_ms: number;
  readonly failures: number;
  readonly name: string;
  readonly overdue: boolean;
  readonly owner: string;
  readonly ran_ms: number | null;
  readonly started_at: Date;
  readonly started_ms_ago: number;
}

const ms = (interval: string) => `(extract(epoch FROM ${interval}) * 1000)::float8`;

/**
 * Reads the last run of every duty (S3).
 *
 * Locks: none. Index: none, the table has a row for each duty.
 */
export const listDutyRuns = new Statement<Record<string, never>, DutyRunRow>({
  name: 'list-duty-runs',
  text: (schema) => `
SELECT d.name, d.owner, d.started_at, d.ended_at, d.failures, d.error_code, d.error_class,
    ${ms('d.every')} AS every_ms, ${ms('d.deadline')} AS deadline_ms,
    ${ms('d.ended_at - d.started_at')} AS ran_ms, ${ms('clock_timestamp() - d.started_at')} AS started_ms_ago,
    ${ms(`(${dutyDueAt('d.every')}) - clock_timestamp()`)} AS due_in_ms,
    d.ended_at IS NULL AND d.started_at + d.deadline < clock_timestamp() AS overdue
  FROM ${schema.of('leader_duty')} d
  ORDER BY d.name`,
  values: () => [],
});
