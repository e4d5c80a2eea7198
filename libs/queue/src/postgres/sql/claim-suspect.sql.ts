import { Statement } from '@holdfast/kernel';
import type { JobRow } from '../job.row.js';
import { CLAIMED_COLUMNS } from './claimed-columns.sql.js';

/** SuspectClaimParams are the parameters of claim-suspect; the arrays go by kind. */
export interface SuspectClaimParams {
  readonly kinds: readonly string[];
  readonly leaseMs: readonly number[];
  readonly owner: string;
  readonly token: string;
}

/**
 * Takes one due suspect, the one that is due longest of the first kind that has one (Q12).
 *
 * Locks: that row, FOR UPDATE SKIP LOCKED. Index: job_suspects, one descent per kind. Fence: none; it makes the lease. The row stays marked as a
 * suspect while it runs: a settlement clears the mark, one that gives the claim back does not.
 */
export const claimSuspect = new Statement<SuspectClaimParams, JobRow>({
  name: 'claim-suspect',
  text: (schema) => `
UPDATE ${schema.of('job')} j
  SET state = 1, attempt = j.attempt + 1, lease_token = $3::uuid, lease_owner = $4::text, claimed_at = now(),
    lease_until = now() + ($2::bigint[])[array_position($1::text[], j.kind)] * interval '1 millisecond'
  WHERE j.id = ANY (ARRAY(
    SELECT due.id
      FROM unnest($1::text[]) WITH ORDINALITY AS k (kind, place)
      CROSS JOIN LATERAL (
        SELECT j.id
          FROM ${schema.of('job')} j
          WHERE j.state = 0 AND j.suspect AND j.kind = k.kind AND j.due_at <= now()
          ORDER BY j.due_at, j.id
          LIMIT 1
          FOR UPDATE SKIP LOCKED
      ) due
      LIMIT 1
  ))
  RETURNING ${CLAIMED_COLUMNS}`,
  values: (p) => [p.kinds, p.leaseMs, p.token, p.owner],
});
