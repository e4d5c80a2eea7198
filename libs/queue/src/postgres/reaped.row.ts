import type { ReapResult } from '../ports/job-store.js';
import type { ReapedRow } from './sql/reap-jobs.sql.js';

/** reapResultOf sorts what was reaped by what became of it. */
export function reapResultOf(rows: readonly ReapedRow[]): ReapResult {
  const part = (wanted: (row: ReapedRow) => boolean) => rows.filter(wanted).map(({ id, kind }) => ({ id, kind }));
  return {
    cancelled: part(({ cancelled }) => cancelled),
    deadLettered: part(({ dead }) => dead),
    returned: part(({ cancelled, dead }) => !cancelled && !dead),
  };
}
