import { Statement } from '@holdfast/kernel';

/**
 * Tells which of these jobs somebody asked to be cancelled (R16).
 *
 * Locks: none. Index: job_cancel_pk. Fence: none; whoever ends the run is fenced.
 */
export const findCancels = new Statement<{ readonly ids: readonly string[] }, { readonly id: string }>({
  name: 'find-cancels',
  text: (schema) => `
SELECT c.job_id::text AS id FROM ${schema.of('job_cancel')} c WHERE c.job_id = ANY ($1::bigint[])`,
  values: (p) => [p.ids],
});
