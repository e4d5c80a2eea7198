import { Statement } from '@holdfast/kernel';

/** StrayRunRow names a run that is over. */
export interface StrayRunRow {
  readonly id: string;
  readonly token: string;
}

/**
 * Finds narrow rows of runs that are over: whose job is no longer running under their token, or is no more. A token that is over never comes back.
 *
 * Locks: none. Index: the primary keys; these tables have a row for each run that goes on, and job_pk is looked into for each of them. Fence: none, it only reads.
 */
export const findStrayRunRows = new Statement<{ readonly limit: number }, StrayRunRow>({
  name: 'find-stray-run-rows',
  text: (schema) => {
    const strays = (table: string) => `(
  SELECT n.job_id::text AS id, n.token::text AS token FROM ${schema.of(table)} n
    WHERE (SELECT j.lease_token FROM ${schema.of('job')} j WHERE j.id = n.job_id) IS DISTINCT FROM n.token
    ORDER BY n.job_id LIMIT $1::integer
)`;
    return `${strays('job_renewal')} UNION ${strays('job_hold')} ORDER BY id`;
  },
  values: (p) => [p.limit],
});
