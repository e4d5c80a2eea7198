import { Statement } from '@holdfast/kernel';

/** AttemptParams are the parameters of read-attempt. */
export interface AttemptParams {
  readonly attempt: number;
  readonly jobId: string;
  readonly token: string;
}

/** AttemptRow says whether the run still holds its job, and else whether the job looks as its completion leaves it, or as the reaper does. */
export interface AttemptRow {
  readonly expired: boolean;
  readonly held: boolean;
  readonly settled: boolean;
}

/**
 * Reads what became of an attempt whose COMMIT had no answer (R3).
 *
 * Locks: the row, FOR UPDATE, which waits for a commit that is still under way. Index: job_pk. A run that was taken away never lowers the attempt: SUCCEEDED at this
 * attempt, or a row that goes on at a lower or the same one, is what this run's completion or repetition left; a repetition
 * that was cancelled is CANCELLED at none. The reaper leaves a failure of its own at the attempt.
 */
export const readAttempt = new Statement<AttemptParams, AttemptRow>({
  name: 'read-attempt',
  text: (schema) => `
SELECT j.state = 1 AND j.lease_token = $2::uuid AS held,
    CASE j.state WHEN 2 THEN j.attempt = $3::integer WHEN 0 THEN j.attempt < $3::integer WHEN 1 THEN j.attempt <= $3::integer WHEN 5 THEN j.attempt < $3::integer ELSE false END AS settled,
    EXISTS (
      SELECT FROM jsonb_array_elements(coalesce(j.failures::jsonb, '[]')) f
        WHERE f ->> 'code' = 'queue.lease_expired' AND (f ->> 'attempt')::integer = $3::integer
    ) AS expired
  FROM ${schema.of('job')} j WHERE j.id = $1::bigint
  FOR UPDATE`,
  values: (p) => [p.jobId, p.token, p.attempt],
});
