import { Statement } from '@holdfast/kernel';

/**
 * Reads how long ago any duty was started: a sign of life of whoever leads.
 *
 * Locks: none. Index: none, the table has a row for each duty.
 */
export const findLastDutyStart = new Statement<Record<string, never>, { readonly ago_ms: number | null }>({
  name: 'find-last-duty-start',
  text: (schema) =>
    `SELECT (extract(epoch FROM clock_timestamp() - max(started_at)) * 1000)::float8 AS ago_ms FROM ${schema.of('leader_duty')}`,
  values: () => [],
});
