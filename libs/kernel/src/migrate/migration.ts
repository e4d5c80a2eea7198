import { createHash } from 'node:crypto';
import { SchemaName } from '../sql/schema-name.js';
import { InvalidMigrationsError } from './errors/invalid-migrations.error.js';

/** MigrationPart is the library whose tables a migration is about. */
export type MigrationPart = 'queue' | 'outbox';

/**
 * Migration is one step of the schema, as data: the statements that make it and those that take it back.
 *
 * Every name in them is qualified and quoted through the schema (`schema.of('job')`), so that nothing ever lands outside it. Once released
 * its `up` is frozen: an edited one is refused by its checksum.
 */
export interface Migration {
  /** id is `0001-what-it-does`: four digits that order it within its part, then words. */
  readonly id: string;
  readonly part: MigrationPart;
  /**
   * transaction: false runs the statements one by one outside a transaction (`CREATE INDEX CONCURRENTLY`); then each must be safe to repeat,
   * because a failure leaves the ones before it. Default true: all or nothing.
   */
  readonly transaction?: boolean;
  /** written is the moment it was written (ISO 8601, UTC); it gives the migration its place among an application's TypeORM migrations. */
  readonly written: string;
  /** down undoes `up` on tables with rows in them. */
  down(schema: SchemaName): readonly string[];
  up(schema: SchemaName): readonly string[];
}

const ID = /^\d{4}-[a-z0-9]+(-[a-z0-9]+)*$/;
/** Checksums are taken over one fixed schema name, so that they do not depend on the user's. */
const SAMPLE = new SchemaName('holdfast');

/** migrationChecksum answers the SHA-256 of what a migration does on the way up, the same for every schema name. */
export function migrationChecksum(migration: Migration): string {
  const { id, part, transaction = true } = migration;
  return createHash('sha256')
    .update(JSON.stringify([part, id, transaction, ...migration.up(SAMPLE)]))
    .digest('hex');
}

/** isTransactional tells whether a migration runs in one transaction: the default. */
export function isTransactional(migration: Migration): boolean {
  return migration.transaction !== false;
}

/** checkMigrations throws InvalidMigrationsError for ids that are malformed, doubled, or out of order within their part. */
export function checkMigrations(migrations: readonly Migration[]): void {
  const last = new Map<MigrationPart, string>();
  const seen = new Set<string>();
  for (const { id, part } of migrations) {
    if (!ID.test(id))
      throw new InvalidMigrationsError(id, 'an id is four digits and lower-case words joined by dashes: 0001-first');
    if (seen.has(id)) throw new InvalidMigrationsError(id, 'the id is there twice');
    if (id <= (last.get(part) ?? ''))
      throw new InvalidMigrationsError(id, `it follows ${last.get(part)}: ids ascend within a part`);
    seen.add(id);
    last.set(part, id);
  }
}
