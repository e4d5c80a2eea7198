import { Statement } from '@holdfast/kernel';

/** The first half of the two-int key of the lock; the other is a hash of the schema's name. */
const SEEDING_LOCK_CLASS = 1_752_132_710;

/**
 * Takes the right to seed jobs in this schema until the transaction ends, so that replicas which start at once take turns.
 *
 * Locks: one advisory lock of the transaction, waited for: nobody but another seeding holds it, and those are short. Index: none. Fence: none. What comes
 * after it in the transaction has to be a statement of its own, to see what the one before has committed.
 */
export const lockSeeding = new Statement<object, { locked: string }>({
  name: 'lock-seeding',
  text: (schema) =>
    `SELECT pg_catalog.pg_advisory_xact_lock(${SEEDING_LOCK_CLASS}, pg_catalog.hashtext('${schema.name.replaceAll("'", "''")}'))::text AS locked`,
  values: () => [],
});
