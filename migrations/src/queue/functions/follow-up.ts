import type { SchemaName } from '@holdfast/kernel';

/** followUps writes the jobs that follow on the ends of `rows`, which are rows of job under the alias `s` (R14). Their payload is EndedJob. */
export function followUps(schema: SchemaName, rows: string): string {
  return `INSERT INTO ${schema.of('job')} (kind, tenant_id, priority, max_attempts, payload, payload_version)
      SELECT e.follow_up, s.tenant_id, e.priority, e.max_attempts,
          json_build_object('jobId', s.id::text, 'kind', s.kind,
            'state', CASE s.state WHEN 3 THEN 'FAILED' WHEN 4 THEN 'DEAD_LETTER' ELSE 'CANCELLED' END,
            'code', CASE WHEN s.state IN (3, 4) THEN s.error_code END, 'payload', s.payload, 'payloadVersion', s.payload_version),
          e.payload_version
        FROM ${rows} JOIN ${schema.of('job_ending')} e ON e.kind = s.kind AND e.state = s.state`;
}
