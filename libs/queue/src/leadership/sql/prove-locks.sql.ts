import { Statement } from '@holdfast/kernel';
import { HELD_LOCKS } from './held-locks.sql.js';

/** ProveLocksRow is what this session is and holds. */
export interface ProveLocksRow {
  readonly backend: number;
  /** objects are the second halves of the keys that are held, unsigned, as text. */
  readonly objects: readonly string[];
}

/**
 * Asks the session which leaders' locks it holds (L2).
 *
 * Locks: none; it reads the server's table of locks, for microseconds. Index: none. Fence: none.
 */
export const proveLocks = new Statement<object, ProveLocksRow>({
  name: 'prove-locks',
  text: () => `
SELECT pg_catalog.pg_backend_pid() AS backend, ARRAY(SELECT l.objid::text FROM ${HELD_LOCKS}) AS objects`,
  values: () => [],
});
