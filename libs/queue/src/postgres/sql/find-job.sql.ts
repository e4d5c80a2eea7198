import { Statement } from '@holdfast/kernel';
import { REQUESTED_COLUMNS, statusColumns, type StatusRow } from './status-columns.sql.js';

/** FindJobParams name a job by its id or by the id of the request that it came from. */
export interface FindJobParams {
  readonly id: string;
}

/**
 * Finds one job by its id, else by the aliases of requests that ended in one another and in a job, else a request that is no job yet.
 *
 * A request that waits for a run takes in later ones, and is taken in itself: aliases form a chain. One snapshot for all of it, so that an intake
 * in between loses nobody. Locks: none. Index: the primary keys of job, job_alias, job_cancel and job_request. Fence: none, it only reads. The payload is not
 * touched.
 */
export const findJob = new Statement<FindJobParams, StatusRow>({
  name: 'find-job',
  text: (schema) => `
WITH RECURSIVE named (id) AS (
  SELECT $1::bigint
  UNION
  SELECT a.job_id FROM named n CROSS JOIN LATERAL (SELECT a.job_id FROM ${schema.of('job_alias')} a WHERE a.request_id = n.id OFFSET 0) a
)
SELECT ${statusColumns(schema)}
FROM ${schema.of('job')} j
WHERE j.id = ANY (ARRAY(SELECT n.id FROM named n))
UNION ALL
SELECT ${REQUESTED_COLUMNS}
FROM ${schema.of('job_request')} r
WHERE r.id = ANY (ARRAY(SELECT n.id FROM named n))
LIMIT 1`,
  values: ({ id }) => [id],
});
