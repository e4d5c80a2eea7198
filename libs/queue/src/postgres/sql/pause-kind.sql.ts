import { Statement } from '@holdfast/kernel';

/**
 * Pauses a kind, and answers it where it was not paused.
 *
 * Locks: its row. Index: paused_kind_pk. Fence: none.
 */
export const pauseKind = new Statement<{ readonly kind: string }, { readonly kind: string }>({
  name: 'pause-kind',
  text: (schema) =>
    `INSERT INTO ${schema.of('paused_kind')} (kind) VALUES ($1::text) ON CONFLICT DO NOTHING RETURNING kind`,
  values: (p) => [p.kind],
});
