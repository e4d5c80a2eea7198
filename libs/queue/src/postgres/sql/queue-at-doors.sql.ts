import { Doors, Statement } from '@holdfast/kernel';

/**
 * Says that this session waits for a door that another one keeps, or that it waits no more (Q10).
 *
 * Locks: one advisory lock of the session, shared; where it is tested in this moment, it is waited for, which takes no time. Index: none. Fence: none.
 */
export const queueAtDoors = new Statement<{ readonly waits: boolean }, object>({
  name: 'queue-at-doors',
  text: (schema) => {
    const key = new Doors(schema).waiting;
    return `
SELECT CASE WHEN $1::boolean THEN pg_catalog.pg_advisory_lock_shared(${key})::text ELSE pg_catalog.pg_advisory_unlock_shared(${key})::text END`;
  },
  values: (p) => [p.waits],
});
