import { Statement } from '@holdfast/kernel';

/** FindJobParams name a job by its id or by the id of the request that it came from. */
export interface FindJobParams {
  readonly id: string;
}

/** FindJobRow is a job without its payload; moments are milliseconds since 1970 and JSON is text, whatever parsers the application has set. */
export interface FindJobRow {
  readonly attempt: number;
  readonly claimed_at: number | null;
  readonly created_at: number;
  readonly dedupe_key: string | null;
  readonly deferred_since: number | null;
  readonly due_at: number;
  readonly error_code: string | null;
  readonly failures: string | null;
  readonly finished_at: number | null;
  readonly id: string;
  readonly kind: string;
  readonly max_attempts: number | null;
  readonly outcome: string | null;
  readonly priority: number;
  readonly refusal: string | null;
  readonly state: number;
  readonly tenant_id: string | null;
}

const ms = (moment: string) => `(extract(epoch FROM ${moment}) * 1000)::float8`;

/**
 * Finds one job by its id, else by the aliases of requests that ended in one another and in a job, else a request that is no job yet.
 *
 * A request that waits for a run takes in later ones, and is taken in itself: aliases form a chain. One snapshot for all of it, so that an intake
 * in between loses nobody. Locks: none. Index: the primary keys of job, job_alias and job_request. Fence: none, it only reads. The payload is not
 * touched.
 */
export const findJob = new Statement<FindJobParams, FindJobRow>({
  name: 'find-job',
  text: (schema) => `
WITH RECURSIVE named (id) AS (
  SELECT $1::bigint
  UNION
  SELECT a.job_id FROM named n CROSS JOIN LATERAL (SELECT a.job_id FROM ${schema.of('job_alias')} a WHERE a.request_id = n.id OFFSET 0) a
)
SELECT id::text AS id, kind, tenant_id, dedupe_key, state::int AS state, priority::int AS priority, attempt, max_attempts, outcome, error_code,
  refusal::text AS refusal, failures::text AS failures, ${ms('created_at')} AS created_at, ${ms('due_at')} AS due_at,
  ${ms('claimed_at')} AS claimed_at, ${ms('finished_at')} AS finished_at, ${ms('deferred_since')} AS deferred_since
FROM ${schema.of('job')}
WHERE id = ANY (ARRAY(SELECT n.id FROM named n))
UNION ALL
SELECT id::text, kind, tenant_id, dedupe_key, 0, priority::int, 0, max_attempts, NULL, NULL, NULL, NULL, ${ms('created_at')}, ${ms('due_at')},
  NULL, NULL, NULL
FROM ${schema.of('job_request')}
WHERE id = ANY (ARRAY(SELECT n.id FROM named n))
LIMIT 1`,
  values: ({ id }) => [id],
});
