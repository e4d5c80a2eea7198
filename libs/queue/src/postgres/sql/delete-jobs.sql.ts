import { Statement } from '@holdfast/kernel';

/** DeleteJobsParams name jobs and the states in which they may be. */
export interface DeleteJobsParams {
  /** finishedBeforeUs is a moment in microseconds since 1970, or null for any. */
  readonly finishedBeforeUs: string | null;
  readonly ids: readonly string[];
  readonly states: readonly number[];
}

/** DeletedRow is what became of a job that was to go. */
export interface DeletedRow {
  readonly answer: 'busy' | 'deleted' | 'not_found' | 'wrong_state';
  readonly asked_id: string;
  readonly job_id: string | null;
  readonly state: number;
}

/**
 * Removes jobs with what belongs to them, by the function delete_jobs (A1).
 *
 * Locks: the rows, FOR UPDATE SKIP LOCKED, in the order of ids; for a request the advisory lock of its key, tried. Index: job_pk, job_alias_pk, job_alias_job
 * and those of the narrow rows. Fence: state and moment are looked at again on the locked row.
 */
export const deleteJobs = new Statement<DeleteJobsParams, DeletedRow>({
  name: 'delete-jobs',
  text: (schema) => `
SELECT r.asked_id::text AS asked_id, r.job_id::text AS job_id, r.answer, r.job_state AS state
  FROM ${schema.of('delete_jobs')}($1::bigint[], $2::smallint[], timestamptz 'epoch' + $3::bigint * interval '1 microsecond') r`,
  values: (p) => [p.ids, p.states, p.finishedBeforeUs],
});
