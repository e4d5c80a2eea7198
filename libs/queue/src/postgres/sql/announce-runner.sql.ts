import { Statement } from '@holdfast/kernel';
import type { RunnerPresence } from '../../ports/runner.roster.js';

/**
 * Says that a runner is there.
 *
 * Locks: its own row. Index: runner_presence_pk. Fence: none, the row is its runner's.
 */
export const announceRunner = new Statement<RunnerPresence, never>({
  name: 'announce-runner',
  text: (schema) => `
INSERT INTO ${schema.of('runner_presence')} (id, owner, kinds) VALUES ($1::uuid, $2::text, $3::text[])
  ON CONFLICT (id) DO UPDATE SET kinds = excluded.kinds, owner = excluded.owner, seen_at = clock_timestamp()`,
  values: (p) => [p.id, p.owner, p.kinds],
});
