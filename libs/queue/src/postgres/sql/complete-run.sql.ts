import { Statement } from '@holdfast/kernel';
import type { Lease } from '../../domain/lease.js';

/** CompleteRunParams are the parameters of complete-run. */
export interface CompleteRunParams extends Lease {
  readonly outcome: string | null;
}

/**
 * Ends a run as SUCCEEDED inside the handler's transaction, as the last statement before COMMIT (R1, R2).
 *
 * Locks: the job's row, until the COMMIT that travels with it. Index: job_pk. Fence: RUNNING, the token, and the transaction's own mark of the run; raises
 * HF001 or HF002 where it fences nothing, because COMMIT comes right behind.
 */
export const completeRun = new Statement<CompleteRunParams, never>({
  name: 'complete-run',
  text: (schema) => `SELECT ${schema.of('complete_run')}($1::bigint, $2::uuid, $3::text)`,
  values: (p) => [p.jobId, p.token, p.outcome],
});
