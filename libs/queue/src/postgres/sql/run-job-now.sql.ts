import { Statement } from '@holdfast/kernel';

/** DueRow is what became of a job that was to be due. */
export interface DueRow {
  readonly answer: 'busy' | 'due' | 'not_found' | 'wrong_state';
  readonly job_id: string | null;
  readonly state: number;
}

/**
 * Makes a pending job due now, by the function run_job_now (A1).
 *
 * Locks: the row, FOR UPDATE SKIP LOCKED; for a request the advisory lock of its key, tried. Index: job_pk, job_alias_pk, job_request_pk. Fence: the state is
 * looked at again on the locked row.
 */
export const runJobNow = new Statement<{ readonly id: string }, DueRow>({
  name: 'run-job-now',
  text: (schema) =>
    `SELECT r.job_id::text AS job_id, r.answer, r.job_state AS state FROM ${schema.of('run_job_now')}($1::bigint) r`,
  values: (p) => [p.id],
});
