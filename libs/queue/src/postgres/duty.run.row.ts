import type { DutyRun } from '../ports/duty.js';
import type { DutyRunRow } from './sql/list-duty-runs.sql.js';

/** dutyRunOf maps a row of leader_duty. */
export function dutyRunOf(row: DutyRunRow): DutyRun {
  return {
    deadlineMs: row.deadline_ms,
    dueInMs: row.due_in_ms,
    endedAt: row.ended_at,
    error: row.error_code === null ? null : { class: row.error_class ?? '', code: row.error_code },
    everyMs: row.every_ms,
    failures: row.failures,
    name: row.name,
    owner: row.owner,
    ranMs: row.ran_ms,
    startedAt: row.started_at,
    startedMsAgo: row.started_ms_ago,
    state: stateOf(row),
  };
}

function stateOf({ ended_at, error_code, overdue }: DutyRunRow): DutyRun['state'] {
  if (ended_at === null) return overdue ? 'vanished' : 'running';
  return error_code === null ? 'done' : 'failed';
}
