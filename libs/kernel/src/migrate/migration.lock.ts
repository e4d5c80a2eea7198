import { createHash } from 'node:crypto';
import type { SchemaName } from '../sql/schema-name.js';

/** The first half of the two-int key of every migration lock; advisory locks are per database, so the database is part of the key anyway. */
export const MIGRATION_LOCK_CLASS = 1_752_132_709;

/**
 * migrationLockKey answers the two-int key of the advisory lock that serialises migrations of one schema: a fixed class and a hash of the
 * schema's name (the first four bytes of its SHA-256, so that it can be computed anywhere).
 */
export function migrationLockKey(schema: SchemaName): string {
  return `${MIGRATION_LOCK_CLASS}, ${createHash('sha256').update(schema.name).digest().readInt32BE(0)}`;
}
