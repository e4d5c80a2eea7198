import { Statement } from '@holdfast/kernel';

/** CompleteParams name the runs by job; tokens and outcomes are objects by job id, outcomes only where there are any. */
export interface CompleteParams {
  readonly ids: readonly string[];
  readonly outcomes: Readonly<Record<string, string>>;
  readonly tokens: Readonly<Record<string, string>>;
}

/**
 * Ends runs as SUCCEEDED: the hot case of settling.
 *
 * Locks: the rows, in the order of ids, so that two batches cannot wait for each other crosswise. Index: job_pk, by the array; no join, which might be
 * planned to read the whole table. Fence: each row's own token, looked up by its id;
 * a row has one only while RUNNING (job_lease_while_running).
 */
export const completeJobs = new Statement<CompleteParams, { id: string }>({
  name: 'complete-jobs',
  text: (schema) => `
UPDATE ${schema.of('job')} j
  SET state = 2, finished_at = now(), outcome = $3::jsonb ->> j.id::text, suspect = false, losses = 0, deferred_since = NULL, error_code = NULL,
    lease_token = NULL, lease_owner = NULL, lease_until = NULL
  WHERE j.id = ANY ($1::bigint[]) AND j.lease_token = ($2::jsonb ->> j.id::text)::uuid
  RETURNING j.id::text AS id`,
  values: (p) => [p.ids, JSON.stringify(p.tokens), JSON.stringify(p.outcomes)],
});
