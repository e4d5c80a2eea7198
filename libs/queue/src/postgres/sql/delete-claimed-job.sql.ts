import { Statement } from '@holdfast/kernel';
import type { Lease } from '../../domain/lease.js';

/**
 * Removes a job that is held under a lease, as if it had never been: the end of a trial run of the testing kit.
 *
 * Locks: its row. Index: the primary key. Fence: the token.
 */
export const deleteClaimedJob = new Statement<Lease, { id: string }>({
  name: 'delete-claimed-job',
  text: (schema) => `
DELETE FROM ${schema.of('job')} j WHERE j.id = $1::bigint AND j.state = 1 AND j.lease_token = $2::uuid RETURNING j.id::text AS id`,
  values: ({ jobId, token }) => [jobId, token],
});
