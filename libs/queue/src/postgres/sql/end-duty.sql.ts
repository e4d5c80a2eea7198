import { Statement } from '@holdfast/kernel';

interface EndDutyParams {
  readonly errorClass: string | null;
  readonly errorCode: string | null;
  readonly name: string;
  readonly retryMs: number | null;
  readonly run: string;
}

/**
 * Writes down how a run of a duty ended; no row when another run has followed it (S3).
 *
 * Locks: the row of the duty. Index: leader_duty_pk. Fence: the run's token, and the leader's connection through which it is sent (L3).
 */
export const endDuty = new Statement<EndDutyParams, { readonly name: string }>({
  name: 'end-duty',
  text: (schema) => `
UPDATE ${schema.of('leader_duty')} d SET
    ended_at = clock_timestamp(), error_code = $3::text, error_class = $4::text,
    failures = CASE WHEN $3::text IS NULL THEN 0 ELSE d.failures + 1 END,
    retry_at = clock_timestamp() + $5::float8 * interval '1 millisecond'
  WHERE d.name = $1::text AND d.run = $2::uuid AND d.ended_at IS NULL
  RETURNING d.name`,
  values: (p) => [p.name, p.run, p.errorCode, p.errorClass, p.retryMs],
});
