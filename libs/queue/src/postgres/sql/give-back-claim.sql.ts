import { Statement } from '@holdfast/kernel';

/**
 * Returns every job still held under a claim's token, as before the claim (R5).
 *
 * Locks: the rows, in the order of ids (`+ 0`, lest the primary key's order seem worth reading all of it). Index: job_leases, all of it, which is what `kind > ''` is for: the running jobs are few.
 * Fence: the token, which is there only while RUNNING.
 */
export const giveBackClaim = new Statement<{ readonly token: string }, { id: string }>({
  name: 'give-back-claim',
  text: (schema) => `
UPDATE ${schema.of('job')} j
  SET state = 0, attempt = greatest(j.attempt - 1, 0), lease_token = NULL, lease_owner = NULL, lease_until = NULL
  WHERE j.id = ANY (ARRAY(
      SELECT j.id FROM ${schema.of('job')} j WHERE j.state = 1 AND j.kind > '' AND j.lease_token = $1::uuid ORDER BY j.id + 0 FOR UPDATE
    )) AND j.lease_token = $1::uuid
  RETURNING j.id::text AS id`,
  values: (p) => [p.token],
});
