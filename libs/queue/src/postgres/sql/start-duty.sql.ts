import { Statement } from '@holdfast/kernel';
import { dutyDueAt } from './duty-due.sql.js';

interface StartDutyParams {
  readonly deadlineMs: number;
  readonly everyMs: number;
  readonly name: string;
  readonly owner: string;
  readonly run: string;
}

/** StartedDutyRow is what was known of a duty before this run. */
export interface StartedDutyRow {
  readonly failures: number;
  readonly last_started_at: Date | null;
}

/**
 * Writes down that a run of a duty begins, if it is due: no row otherwise. Answers when the run before it started (S3).
 *
 * Locks: the row of the duty. Index: leader_duty_pk. Fence: it is sent through the leader's connection (L3); besides, whoever comes second finds the
 * row as the first left it, and the duty not due.
 */
export const startDuty = new Statement<StartDutyParams, StartedDutyRow>({
  name: 'start-duty',
  text: (schema) => `
WITH before AS (SELECT b.started_at FROM ${schema.of('leader_duty')} b WHERE b.name = $1::text COLLATE "C")
INSERT INTO ${schema.of('leader_duty')} AS d (name, run, owner, every, deadline, started_at)
  VALUES ($1::text, $2::uuid, $3::text, $4::float8 * interval '1 millisecond', $5::float8 * interval '1 millisecond', clock_timestamp())
  ON CONFLICT (name) DO UPDATE SET
    run = excluded.run, owner = excluded.owner, every = excluded.every, deadline = excluded.deadline,
    started_at = excluded.started_at, ended_at = NULL, asked_at = NULL
  WHERE (${dutyDueAt('excluded.every')}) <= clock_timestamp()
  RETURNING d.failures, (SELECT started_at FROM before) AS last_started_at`,
  values: (p) => [p.name, p.run, p.owner, p.everyMs, p.deadlineMs],
});
