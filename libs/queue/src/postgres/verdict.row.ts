import type { Verdict } from '../ports/job-store.js';
import type { AttemptRow } from './sql/read-attempt.sql.js';

/** verdictOf maps what is left of an attempt to what became of it. */
export function verdictOf(row: AttemptRow | undefined): Verdict {
  if (row?.held) return 'held';
  if (row?.settled) return 'settled';
  return row?.expired ? 'expired' : 'lost';
}
