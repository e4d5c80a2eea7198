import { createHash } from 'node:crypto';
import type { SchemaName } from '@holdfast/kernel';

/** LEADER_LOCK_CLASS is the first half of the two-int key of every leader's lock. */
export const LEADER_LOCK_CLASS = 1_752_132_711;

/**
 * lockKeyOf answers the second half: the first four bytes, as a signed integer, of the SHA-256 of schema, line feed and name (L1).
 *
 * A name has no line feed, so no two pairs are written the same. The lock is of the session's database, so the database is part of the key anyway.
 */
export function lockKeyOf(schema: SchemaName, name: string): number {
  return createHash('sha256').update(`${schema.name}\n${name}`).digest().readInt32BE(0);
}

/** lockObjectOf answers what `pg_locks.objid` shows of that half: the same 32 bits, unsigned. */
export function lockObjectOf(key: number): number {
  return key >>> 0;
}
