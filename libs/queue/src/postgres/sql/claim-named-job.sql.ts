import { Statement } from '@holdfast/kernel';
import type { JobRow } from '../job.row.js';
import { CLAIMED_COLUMNS } from './claimed-columns.sql.js';

/** ClaimNamedJobParams name one job and the lease it gets; `attempt` null is the next one. */
export interface ClaimNamedJobParams {
  readonly attempt: number | null;
  readonly id: string;
  readonly leaseMs: number;
  readonly owner: string;
  readonly token: string;
}

/**
 * Takes one PENDING job by its id, due or not, under a new lease: what the testing kit runs, and no runner.
 *
 * Locks: its row. Index: the primary key. Fence: none; it makes the lease.
 */
export const claimNamedJob = new Statement<ClaimNamedJobParams, JobRow>({
  name: 'claim-named-job',
  text: (schema) => `
UPDATE ${schema.of('job')} j
  SET state = 1, attempt = coalesce($2::integer, j.attempt + 1), lease_token = $4::uuid, lease_owner = $5::text, claimed_at = now(),
    lease_until = now() + $3::bigint * interval '1 millisecond'
  WHERE j.id = $1::bigint AND j.state = 0
  RETURNING ${CLAIMED_COLUMNS}`,
  values: (p) => [p.id, p.attempt, p.leaseMs, p.token, p.owner],
});
