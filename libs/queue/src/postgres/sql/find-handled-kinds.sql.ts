import { Statement } from '@holdfast/kernel';

/**
 * Reads the kinds that runners which are there run: those that were seen no longer ago than this.
 *
 * Locks: none. Index: none, the table has a row for each runner.
 */
export const findHandledKinds = new Statement<{ readonly withinMs: number }, { readonly kind: string }>({
  name: 'find-handled-kinds',
  text: (schema) => `
SELECT DISTINCT unnest(kinds) AS kind FROM ${schema.of('runner_presence')}
  WHERE seen_at >= clock_timestamp() - $1::float8 * interval '1 millisecond'
  ORDER BY kind`,
  values: (p) => [p.withinMs],
});
