import { Doors, Statement } from '@holdfast/kernel';

/**
 * Notifies those who wait for a door, where there are any (Q10). After leave-doors, in a statement of its own: who waits says so before it tries.
 *
 * Locks: the lock of those who wait, exclusively, for a moment. Index: none. Fence: none.
 */
export const callNext = new Statement<{ readonly channel: string }, object>({
  name: 'call-next',
  text: (schema) => {
    const key = new Doors(schema).waiting;
    return `
SELECT CASE WHEN NOT pg_catalog.pg_try_advisory_lock(${key}) THEN pg_catalog.pg_notify($1::text, '')::text
    ELSE pg_catalog.pg_advisory_unlock(${key})::text END`;
  },
  values: (p) => [p.channel],
});
