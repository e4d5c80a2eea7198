import { Doors, Statement } from '@holdfast/kernel';

/**
 * Leaves doors that this session keeps (Q10).
 *
 * Locks: gives up the doors' advisory locks. Index: none. Fence: none.
 */
export const leaveDoors = new Statement<{ readonly doors: readonly number[] }, { readonly left: boolean }>({
  name: 'leave-doors',
  text: (schema) =>
    `SELECT pg_catalog.pg_advisory_unlock(${new Doors(schema).numbered('d.door')}) AS left FROM unnest($1::integer[]) AS d (door)`,
  values: (p) => [p.doors],
});
