import { Statement } from '@holdfast/kernel';

/** RequeuedRow is what became of a job. */
export interface RequeuedRow {
  readonly answer: 'busy' | 'key_taken' | 'not_found' | 'requeued' | 'wrong_state';
  readonly asked_id: string;
  readonly job_id: string | null;
  readonly live_id: string | null;
  readonly state: number;
}

/**
 * Makes jobs that were refused, dead or cancelled pending again, by the function requeue_jobs (A1).
 *
 * Locks: an advisory lock per key, tried; the rows, FOR UPDATE SKIP LOCKED, in the order of ids. Index: job_pk, job_alias_pk and job_live_keys. Fence: the state
 * is looked at again on the locked row.
 */
export const requeueJobs = new Statement<{ readonly ids: readonly string[] }, RequeuedRow>({
  name: 'requeue-jobs',
  text: (schema) =>
    `SELECT r.asked_id::text AS asked_id, r.job_id::text AS job_id, r.answer, r.job_state AS state, r.live_id::text AS live_id
  FROM ${schema.of('requeue_jobs')}($1::bigint[]) r`,
  values: (p) => [p.ids],
});
