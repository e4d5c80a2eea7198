import { escapeIdentifier } from 'pg';
import { InvalidSchemaNameError } from '../errors/invalid-schema-name.error.js';

const MAX_IDENTIFIER_BYTES = 63;

/**
 * SchemaName is the PostgreSQL schema that holds Holdfast's tables, quoted wherever it is written, so that any name works.
 *
 * Default of the library: `holdfast`. Throws InvalidSchemaNameError for an empty name, one over 63 bytes, one with U+0000,
 * or one that PostgreSQL keeps for itself (`pg_…`).
 */
export class SchemaName {
  readonly quoted: string;

  constructor(readonly name: string) {
    if (name.length === 0) throw new InvalidSchemaNameError(name, 'it is empty');
    if (Buffer.byteLength(name) > MAX_IDENTIFIER_BYTES) throw new InvalidSchemaNameError(name, 'it is over 63 bytes');
    if (name.includes('\0')) throw new InvalidSchemaNameError(name, 'it contains U+0000');
    if (name.startsWith('pg_'))
      throw new InvalidSchemaNameError(name, 'names that begin with pg_ belong to PostgreSQL');
    this.quoted = escapeIdentifier(name);
  }

  /** of answers `"schema"."object"` for a table, function or sequence of the schema. */
  of(object: string): string {
    return `${this.quoted}.${escapeIdentifier(object)}`;
  }
}
