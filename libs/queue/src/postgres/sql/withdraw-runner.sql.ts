import { Statement } from '@holdfast/kernel';

/**
 * Takes away a runner that has stopped.
 *
 * Locks: its own row. Index: runner_presence_pk. Fence: none, the row is its runner's.
 */
export const withdrawRunner = new Statement<{ readonly id: string }, never>({
  name: 'withdraw-runner',
  text: (schema) => `DELETE FROM ${schema.of('runner_presence')} WHERE id = $1::uuid`,
  values: (p) => [p.id],
});
