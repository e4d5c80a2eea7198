import { Statement } from '@holdfast/kernel';

/**
 * Locks the rows of several runs before the statements that settle them, when there is more than one.
 *
 * Locks: the rows, in the order of ids, as every statement that locks many of them does: two that meet wait for each other in one direction only (K132).
 * Index: job_pk. Fence: none; the statements that follow are fenced.
 */
export const lockRuns = new Statement<{ readonly ids: readonly string[] }, object>({
  name: 'lock-runs',
  text: (schema) => `
SELECT FROM ${schema.of('job')} j WHERE j.id = ANY ($1::bigint[]) ORDER BY j.id FOR UPDATE`,
  values: (p) => [p.ids],
});
