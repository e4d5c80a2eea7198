import type { Migration } from '../src/index.js';

/** migration makes one for the tests; statements may be text with %s for the quoted schema. */
export function migration(
  id: string,
  up: readonly string[],
  down: readonly string[],
  more: Partial<Migration> = {},
): Migration {
  const written = '2026-01-01T00:00:00Z';
  return {
    part: 'queue',
    written,
    ...more,
    id,
    down: (schema) => down.map((text) => text.replaceAll('%s', () => schema.quoted)),
    up: (schema) => up.map((text) => text.replaceAll('%s', () => schema.quoted)),
  };
}

export const first = migration(
  '0001-first',
  [
    'CREATE TABLE %s.thing (id bigint PRIMARY KEY, isolation text)',
    `INSERT INTO %s.thing VALUES (1, current_setting('transaction_isolation'))`,
  ],
  ['DROP TABLE %s.thing'],
);

export const second = migration(
  '0002-second',
  ['ALTER TABLE %s.thing ADD COLUMN name text', "CREATE TYPE %s.mood AS ENUM ('good')"],
  ['DROP TYPE %s.mood', 'ALTER TABLE %s.thing DROP COLUMN name'],
);

/** third builds an index concurrently, which no transaction may do, and which waits for every older snapshot. */
export const third = migration(
  '0003-index',
  ['CREATE INDEX CONCURRENTLY IF NOT EXISTS thing_name ON %s.thing (name)'],
  ['DROP INDEX CONCURRENTLY %s.thing_name'],
  { transaction: false },
);

export const outbox = migration('0001-letters', ['CREATE TABLE %s.letter (id bigint)'], ['DROP TABLE %s.letter'], {
  part: 'outbox',
});
