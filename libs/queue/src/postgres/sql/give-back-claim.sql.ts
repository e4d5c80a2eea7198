import { Statement } from '@holdfast/kernel';

/**
 * Returns every job still held under a claim's token, as before the claim (R5).
 *
 * Locks: the rows, in the order of ids; it waits for none but the claim's own. Index: job_leases, all of it: the running jobs. Fence: the token.
 */
export const giveBackClaim = new Statement<{ readonly token: string }, { id: string }>({
  name: 'give-back-claim',
  text: (schema) => `
UPDATE ${schema.of('job')} j
  SET state = 0, attempt = greatest(j.attempt - 1, 0), lease_token = NULL, lease_owner = NULL, lease_until = NULL
  WHERE j.id = ANY (ARRAY(
      SELECT j.id FROM ${schema.of('job')} j WHERE j.state = 1 AND j.lease_token = $1::uuid ORDER BY j.id FOR UPDATE
    )) AND j.state = 1 AND j.lease_token = $1::uuid
  RETURNING j.id::text AS id`,
  values: (p) => [p.token],
});
