import { Statement } from '@holdfast/kernel';

/** LeasesParams name runs by parallel arrays, in the order of ids. */
export interface LeasesParams {
  readonly ids: readonly string[];
  readonly tokens: readonly string[];
}

/** RenewParams are the parameters of renew-leases. */
export interface RenewParams extends LeasesParams {
  readonly leaseMs: number;
}

/**
 * Extends leases in rows of their own and answers those still held (R7, Q16).
 *
 * Locks: rows of job_renewal, in the order of ids; the job's row is read and never locked, so that a lock on it delays nothing. Index: job_pk and job_renewal_pk,
 * row by row. Fence: the token, there only while RUNNING.
 */
export const renewLeases = new Statement<RenewParams, { id: string; token: string }>({
  name: 'renew-leases',
  text: (schema) => `
INSERT INTO ${schema.of('job_renewal')} AS r (job_id, token, until)
  SELECT l.id, l.token, now() + $3::bigint * interval '1 millisecond'
    FROM unnest($1::bigint[], $2::uuid[]) AS l (id, token)
    CROSS JOIN LATERAL (SELECT FROM ${schema.of('job')} j WHERE j.id = l.id AND j.lease_token = l.token OFFSET 0) held
  ON CONFLICT (job_id) DO UPDATE SET token = excluded.token, until = excluded.until
  RETURNING r.job_id::text AS id, r.token::text AS token`,
  values: (p) => [p.ids, p.tokens, p.leaseMs],
});
