import type { KindDepth } from '../ports/job-store.js';
import type { DepthRow } from './sql/count-due.sql.js';

/** kindDepth maps a row to what is due of a kind. */
export function kindDepth({ due, kind, oldest_ms: oldestMs }: DepthRow): KindDepth {
  return { due: Number(due), kind, oldestDueAgeMs: Math.max(0, oldestMs ?? 0) };
}
