import { Statement } from '@holdfast/kernel';

/**
 * Ends the pause of a kind, and answers it where it was paused.
 *
 * Locks: its row. Index: paused_kind_pk. Fence: none.
 */
export const resumeKind = new Statement<{ readonly kind: string }, { readonly kind: string }>({
  name: 'resume-kind',
  text: (schema) => `DELETE FROM ${schema.of('paused_kind')} WHERE kind = $1::text RETURNING kind`,
  values: (p) => [p.kind],
});
