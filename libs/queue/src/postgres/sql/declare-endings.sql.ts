import { Statement } from '@holdfast/kernel';
import type { DeclaredEnding } from '../../domain/on-end.js';

/** DeclareEndingsParams are what the definitions of `kinds` say. */
export interface DeclareEndingsParams {
  readonly endings: readonly DeclaredEnding[];
  readonly kinds: readonly string[];
}

/**
 * Writes down which jobs follow on the ends of these kinds, and takes away what their definitions no longer say (R14).
 *
 * Locks: the rows of these kinds, in their order. Index: job_ending_pk. Fence: none, the runner that started last is the one that counts.
 */
export const declareEndings = new Statement<DeclareEndingsParams, never>({
  name: 'declare-endings',
  text: (schema) => `
WITH said AS (
  SELECT s.* FROM unnest($2::text[], $3::smallint[], $4::text[], $5::smallint[], $6::integer[], $7::smallint[])
      AS s (kind, state, follow_up, priority, max_attempts, payload_version)
), unsaid AS (
  DELETE FROM ${schema.of('job_ending')} e
    WHERE e.kind = ANY ($1::text[])
      AND NOT EXISTS (SELECT FROM said s WHERE s.kind = e.kind AND s.state = e.state AND s.follow_up = e.follow_up)
)
INSERT INTO ${schema.of('job_ending')} AS e (kind, state, follow_up, priority, max_attempts, payload_version)
  SELECT s.kind, s.state, s.follow_up, s.priority, s.max_attempts, s.payload_version FROM said s ORDER BY s.kind, s.state, s.follow_up
  ON CONFLICT (kind, state, follow_up) DO UPDATE
    SET priority = excluded.priority, max_attempts = excluded.max_attempts, payload_version = excluded.payload_version`,
  values: ({ endings, kinds }) => [
    kinds,
    endings.map(({ kind }) => kind),
    endings.map(({ state }) => state),
    endings.map(({ followUp }) => followUp.kind),
    endings.map(({ followUp }) => followUp.priority),
    endings.map(({ followUp }) => followUp.maxAttempts),
    endings.map(({ followUp }) => followUp.version),
  ],
});
