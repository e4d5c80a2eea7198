import {
  applyInOpenTransaction,
  Migrator,
  revertInOpenTransaction,
  type Migration,
  type MigrationConnection,
  type MigrationPart,
} from '@holdfast/kernel';
import { migrationsFor } from './migrations-for.js';
import type { TypeOrmMigration, TypeOrmMigrationClass, TypeOrmQueryRunner } from './typeorm-migration.js';

/** HoldfastMigrationsOptions say which tables, and where. */
export interface HoldfastMigrationsOptions {
  /** parts whose tables are made. Default: all. */
  readonly parts?: readonly MigrationPart[];
  /** schema that holds them. Default `holdfast`. */
  readonly schema?: string;
}

const DEFAULT_SCHEMA = 'holdfast';

/**
 * holdfastMigrations answers Holdfast's migrations as TypeORM migration classes, for an application's own list:
 * `new DataSource({ …, migrations: [...holdfastMigrations({ parts: ['queue'] }), …] })`.
 *
 * Each joins the transaction that TypeORM has opened, takes the lock of Holdfast's own migrator and writes its history too, so that both can be
 * used on one schema and the check at start finds them applied.
 */
export function holdfastMigrations({
  parts,
  schema = DEFAULT_SCHEMA,
}: HoldfastMigrationsOptions = {}): TypeOrmMigrationClass[] {
  return migrationsFor(parts).map((migration) => classOf(migration, schema));
}

function classOf(migration: Migration, schema: string): TypeOrmMigrationClass {
  return class HoldfastMigration implements TypeOrmMigration {
    readonly name = nameOf(migration, schema);
    readonly transaction = migration.transaction;

    async down(queryRunner: TypeOrmQueryRunner): Promise<void> {
      const connection = connectionOf(queryRunner);
      if (queryRunner.isTransactionActive) await revertInOpenTransaction(connection, schema, migration);
      else await new Migrator(connection, { migrations: [migration], schema }).down();
    }

    async up(queryRunner: TypeOrmQueryRunner): Promise<void> {
      const connection = connectionOf(queryRunner);
      if (queryRunner.isTransactionActive) await applyInOpenTransaction(connection, schema, migration);
      else await new Migrator(connection, { migrations: [migration], schema }).up();
    }
  };
}

/** TypeORM answers the rows of a SELECT as they are, and other statements in other shapes, which nobody here reads. */
function connectionOf(queryRunner: TypeOrmQueryRunner): MigrationConnection {
  return {
    query: async (text) => {
      const answer = await queryRunner.query(text);
      return { rows: Array.isArray(answer) ? (answer as unknown[]) : [] };
    },
  };
}

/** TypeORM orders migrations by the 13 digits at the end of their names, and knows a migration by its name. */
function nameOf({ id, part, written }: Migration, schema: string): string {
  const words = [part, ...id.split('-')].map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  const place = schema === DEFAULT_SCHEMA ? '' : `In_${schema.replace(/\W/g, '_')}_`;
  return `Holdfast${words}${place}${Date.parse(written) + Number(id.slice(0, 4))}`;
}
