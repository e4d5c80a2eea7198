import { Statement } from '@holdfast/kernel';

/** CancelJobParams name a job, or a request, of anybody or of one tenant. */
export interface CancelJobParams {
  readonly id: string;
  readonly tenantId?: string | null | undefined;
}

/** CancelJobRow is what became of the request. */
export interface CancelJobRow {
  readonly answer: 'cancelled' | 'final' | 'not_found' | 'requested';
  readonly id: string | null;
  readonly state: number | null;
}

/**
 * Cancels a pending job or a request, or asks whoever runs the job to end it (R16).
 *
 * Locks: the advisory lock of its key, then the row of a pending job or the key's requests; of a running job nothing but its row of job_cancel. Waits are bounded
 * by 2 s each (55P03). Index: the primary keys of job, job_alias and job_cancel, job_live_keys; job_request is walked for the requests of the key, of which there are
 * few. Fence: the state, looked at again on the locked row.
 */
export const cancelJob = new Statement<CancelJobParams, CancelJobRow>({
  name: 'cancel-job',
  text: (schema) => `
SELECT c.answer, c.found_id::text AS id, c.found_state AS state FROM ${schema.of('cancel_job')}($1::bigint, $2::boolean, $3::text) c`,
  values: ({ id, tenantId }) => [id, tenantId !== undefined, tenantId ?? null],
});
