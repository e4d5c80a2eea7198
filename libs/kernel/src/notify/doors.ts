import { createHash } from 'node:crypto';
import type { SchemaName } from '../sql/schema-name.js';

/** DOORS is how many doors a schema has: a power of two, as its kinds are shared out by the last bits of a hash. */
const DOORS = 32;

/** DOOR_CLASS is the first half of the two-int key of every door's lock. */
const DOOR_CLASS = 1_752_132_712;
/** QUEUE_CLASS is that of the lock of those who wait for a door that another one keeps. */
const QUEUE_CLASS = 1_752_132_713;

/**
 * Doors are the advisory locks by which a schema's idle consumers are known (Q10). Kinds share them: who meets another kind's consumer at its door
 * sends a notification too many, nothing else. Their number bounds what a consumer of many kinds takes of the server's lock table.
 */
export class Doors {
  /** first is the number of the first door; it tells schemas apart. */
  readonly first: number;

  constructor(schema: SchemaName) {
    this.first = createHash('sha256').update(schema.name).digest().readInt32BE(0) & ~(DOORS - 1);
  }

  /** ofKind answers the key of the door of a kind, in SQL, given the kind in SQL: `class, object`. */
  ofKind(kind: string): string {
    return `${DOOR_CLASS}, ${this.numberOfKind(kind)}`;
  }

  /** numbered answers the key of a door whose number is given in SQL. */
  numbered(number: string): string {
    return `${DOOR_CLASS}, ${number}`;
  }

  /** numberOfKind answers the number of a kind's door, in SQL. */
  numberOfKind(kind: string): string {
    return `${this.first} + (pg_catalog.hashtextextended(${kind} COLLATE "C", 0) & ${DOORS - 1})::integer`;
  }

  /** waiting answers the key of the lock that those share who wait for a door. */
  get waiting(): string {
    return `${QUEUE_CLASS}, ${this.first}`;
  }
}
