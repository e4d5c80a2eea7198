import type { SchemaName } from '@holdfast/kernel';

/** ENDED are the columns that follow-ups are made of, of the job `j` that has ended. */
export const ENDED = 'j.id, j.kind, j.state, j.tenant_id, j.error_code, j.payload, j.payload_version';

/**
 * followUps makes, in the statement that ends jobs, the jobs that follow on their ends; `rows` are the ENDED of them (R14).
 *
 * The large payload of a job without a follow-up is not fetched. Index: job_ending_pk; a kind has a few rows at most.
 */
export function followUps(schema: SchemaName, rows: string): string {
  return `INSERT INTO ${schema.of('job')} (kind, tenant_id, priority, max_attempts, payload, payload_version)
    SELECT e.follow_up, s.tenant_id, e.priority, e.max_attempts,
        json_build_object('jobId', s.id::text, 'kind', s.kind,
          'state', CASE s.state WHEN 3 THEN 'FAILED' WHEN 4 THEN 'DEAD_LETTER' ELSE 'CANCELLED' END,
          'code', CASE WHEN s.state IN (3, 4) THEN s.error_code END, 'payload', s.payload, 'payloadVersion', s.payload_version),
        e.payload_version
      FROM ${rows} s JOIN ${schema.of('job_ending')} e ON e.kind = s.kind AND e.state = s.state`;
}
