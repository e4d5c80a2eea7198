import { createHash } from 'node:crypto';
import type { SchemaName } from '../sql/schema-name.js';

/** PostgreSQL takes channels of less than 64 bytes. */
const MAX_CHANNEL_BYTES = 63;

/**
 * channelOf answers the channel on which a schema's consumers are woken: `holdfast:` and the schema's name as it is, or a hash where that would be
 * too long, or has a backslash, whose meaning in a text depends on a setting. Both sides use it: NOTIFY takes it as a text, LISTEN as a quoted
 * identifier, so that no letter of it is folded (K100, K102).
 */
export function channelOf(schema: SchemaName, purpose = 'holdfast'): string {
  const plain = `${purpose}:${schema.name}`;
  if (Buffer.byteLength(plain) <= MAX_CHANNEL_BYTES && !plain.includes('\\')) return plain;
  return `${purpose}#${createHash('sha256').update(schema.name).digest('hex').slice(0, 32)}`;
}
