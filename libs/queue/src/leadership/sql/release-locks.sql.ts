import { Statement } from '@holdfast/kernel';

/**
 * Gives up whatever the session holds, before it is ended: behind a pooler in session mode the backend lives on, and might keep it.
 *
 * Locks: lets the advisory locks of the session go. Index: none. Fence: none is needed, they are its own.
 */
export const releaseLocks = new Statement<object, never>({
  name: 'release-locks',
  text: () => 'SELECT pg_catalog.pg_advisory_unlock_all()',
  values: () => [],
});
