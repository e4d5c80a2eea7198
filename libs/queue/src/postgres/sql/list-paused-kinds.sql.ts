import { type SchemaName, Statement } from '@holdfast/kernel';

/** PausedRow is a kind that is paused; its moment is milliseconds since 1970. */
export interface PausedRow {
  readonly kind: string;
  readonly paused_at: number;
}

/** pausedKindsOf writes the kinds that are paused as an array, for statements that a poll sends anyway. */
export function pausedKindsOf(schema: SchemaName): string {
  return `ARRAY(SELECT p.kind FROM ${schema.of('paused_kind')} p)`;
}

/**
 * Lists the kinds that are paused.
 *
 * Locks: none. Index: none, the table has a row for each. Fence: none.
 */
export const listPausedKinds = new Statement<Record<string, never>, PausedRow>({
  name: 'list-paused-kinds',
  text: (schema) =>
    `SELECT kind, (extract(epoch FROM paused_at) * 1000)::float8 AS paused_at FROM ${schema.of('paused_kind')} ORDER BY kind`,
  values: () => [],
});
