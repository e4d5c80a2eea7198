import { Statement } from '@holdfast/kernel';
import type { Lease } from '../../domain/lease.js';

/**
 * Marks a run as one that satisfies no more enqueue of its key (R11).
 *
 * Locks: its row of job_hold; the job's row is read and not locked. Index: job_pk, job_hold_pk. Fence: the token, there only while RUNNING.
 */
export const holdRun = new Statement<Lease, { id: string }>({
  name: 'hold-run',
  text: (schema) => `
INSERT INTO ${schema.of('job_hold')} AS h (job_id, token)
  SELECT j.id, j.lease_token FROM ${schema.of('job')} j WHERE j.id = $1::bigint AND j.lease_token = $2::uuid
  ON CONFLICT (job_id) DO UPDATE SET token = excluded.token
  RETURNING h.job_id::text AS id`,
  values: (p) => [p.jobId, p.token],
});
