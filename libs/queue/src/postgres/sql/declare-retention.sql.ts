import { Statement } from '@holdfast/kernel';

/** DeclareRetentionParams are what the definitions of `kinds` say, by parallel arrays; a null is for ever. */
export interface DeclareRetentionParams {
  readonly keepMs: readonly (number | null)[];
  readonly kinds: readonly string[];
  readonly saidKinds: readonly string[];
  readonly saidStates: readonly number[];
}

/**
 * Writes down what definitions say of how long their finished jobs are kept, and takes away what they no longer say (S5).
 *
 * Locks: the rows of these kinds; it comes after lock-retention, so that runners which start at once do not wait for each other crosswise. Index:
 * job_retention_pk. Fence: none, the runner that started last is the one that counts.
 */
export const declareRetention = new Statement<DeclareRetentionParams, never>({
  name: 'declare-retention',
  text: (schema) => `
WITH said AS (
  SELECT s.kind, s.state, s.keep_ms * interval '1 millisecond' AS keep FROM unnest($2::text[], $3::smallint[], $4::float8[]) AS s (kind, state, keep_ms)
), unsaid AS (
  DELETE FROM ${schema.of('job_retention')} r
    WHERE r.kind = ANY ($1::text[]) AND NOT EXISTS (SELECT FROM said s WHERE s.kind = r.kind AND s.state = r.state)
)
INSERT INTO ${schema.of('job_retention')} AS r (kind, state, keep) SELECT s.kind, s.state, s.keep FROM said s
  ON CONFLICT (kind, state) DO UPDATE SET keep = excluded.keep WHERE r.keep IS DISTINCT FROM excluded.keep`,
  values: (p) => [p.kinds, p.saidKinds, p.saidStates, p.keepMs],
});
