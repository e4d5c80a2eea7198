import { Doors, Statement } from '@holdfast/kernel';

/** TakenDoor is what a try of a door found. */
export interface TakenDoor {
  readonly door: number;
  /** state: `held` from here on; `kept` by another idle consumer; `passing` while somebody who enqueued commits. */
  readonly state: 'held' | 'kept' | 'passing';
}

/**
 * Tries the doors of kinds, by number (Q10).
 *
 * Locks: the doors' advisory locks, of the session, tried and never waited for; shared for a moment to tell who has one. Index: none. Fence: none.
 */
export const takeDoors = new Statement<{ readonly doors: readonly number[] }, TakenDoor>({
  name: 'take-doors',
  text: (schema) => {
    const key = new Doors(schema).numbered('d.door');
    return `
SELECT d.door, CASE
    WHEN pg_catalog.pg_try_advisory_lock(${key}) THEN 'held'
    WHEN NOT pg_catalog.pg_try_advisory_lock_shared(${key}) THEN 'kept'
    WHEN pg_catalog.pg_advisory_unlock_shared(${key}) THEN 'passing'
  END AS state
  FROM unnest($1::integer[]) AS d (door)`;
  },
  values: (p) => [p.doors],
});
