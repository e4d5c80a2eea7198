import { Statement } from '@holdfast/kernel';
import type { LeasesParams } from './renew-leases.sql.js';

/**
 * Removes the narrow rows of runs that are over.
 *
 * Locks: those rows, and skips one that is locked: a row left behind names a token that is over, and so means nothing. Index: the primary keys. Fence: the
 * token, so that a later run of the job keeps its own.
 */
export const deleteRunRows = new Statement<LeasesParams, { id: string }>({
  name: 'delete-run-rows',
  text: (schema) => {
    const rows = (table: string) => `
  DELETE FROM ${schema.of(table)} n
    WHERE n.job_id = ANY (ARRAY(
      SELECT n.job_id FROM ${schema.of(table)} n
        WHERE n.job_id = ANY ($1::bigint[]) AND n.token = ($2::uuid[])[array_position($1::bigint[], n.job_id)]
        FOR UPDATE SKIP LOCKED
    ))
    RETURNING n.job_id::text AS id`;
    return `WITH renewals AS (${rows('job_renewal')}), holds AS (${rows('job_hold')})
SELECT id FROM renewals UNION ALL SELECT id FROM holds`;
  },
  values: (p) => [p.ids, p.tokens],
});
