import { escapeLiteral } from 'pg';
import { sqlStateOf } from '../errors/sql-state.js';
import type { SchemaName } from '../sql/schema-name.js';
import { SchemaAccessError } from './errors/schema-access.error.js';
import { rowsOf, type MigrationConnection } from './migration.connection.js';
import { migrationChecksum, type Migration } from './migration.js';

/** AppliedMigration is a row of the history. */
export interface AppliedMigration {
  /** appliedAt is an ISO 8601 moment (UTC) by the database's clock. */
  readonly appliedAt: string;
  readonly appliedBy: string;
  readonly checksum: string;
  readonly id: string;
  readonly part: string;
}

/** HistoryPlace is what is there before anything is read. */
export interface HistoryPlace {
  readonly history_exists: boolean;
  readonly may_create: boolean;
  readonly role: string;
  readonly schema_exists: boolean;
}

const PERMISSION_DENIED = '42501';
const UNDEFINED_TABLE = '42P01';

/** MigrationHistory is the table `migration` in our schema: which migrations were applied, when, by whom, and their checksums. */
export class MigrationHistory {
  private readonly table: string;

  constructor(private readonly schema: SchemaName) {
    this.table = schema.of('migration');
  }

  /** creation makes the table. Only ever run under the migration lock (K125). */
  creation(): string[] {
    return [
      `CREATE TABLE ${this.table} (
  part text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  checksum text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  applied_by text NOT NULL DEFAULT session_user,
  CONSTRAINT migration_pk PRIMARY KEY (part, id)
)`,
      `COMMENT ON TABLE ${this.table} IS 'Holdfast: the migrations that were applied to this schema.'`,
    ];
  }

  drop(): string {
    return `DROP TABLE ${this.table}`;
  }

  forget({ id, part }: Migration): string {
    return `DELETE FROM ${this.table} WHERE part = ${escapeLiteral(part)} AND id = ${escapeLiteral(id)}`;
  }

  /** place looks whether the schema and the table are there, in catalogs that every role may read. */
  async place(connection: MigrationConnection): Promise<HistoryPlace> {
    const name = escapeLiteral(this.schema.name);
    const [place] = await rowsOf<HistoryPlace>(
      connection,
      `SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = ${name}) AS schema_exists,
       EXISTS (SELECT FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
               WHERE n.nspname = ${name} AND c.relname = 'migration') AS history_exists,
       pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE') AS may_create,
       current_user::text AS role`,
    );
    return place as HistoryPlace;
  }

  /** read answers what was applied, in the order of ids; nothing when the table does not exist. Throws SchemaAccessError without the right to. */
  async read(connection: MigrationConnection): Promise<AppliedMigration[]> {
    const { history_exists } = await this.place(connection);
    if (!history_exists) return [];
    try {
      return await rowsOf<AppliedMigration>(
        connection,
        `SELECT part, id, checksum, applied_by AS "appliedBy",
       pg_catalog.to_char(applied_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS "appliedAt"
FROM ${this.table} ORDER BY id, part`,
      );
    } catch (cause) {
      if (sqlStateOf(cause) === PERMISSION_DENIED) throw new SchemaAccessError(this.schema.name, { cause });
      if (sqlStateOf(cause) === UNDEFINED_TABLE) return [];
      throw cause;
    }
  }

  record(migration: Migration): string {
    const values = [migration.part, migration.id, migrationChecksum(migration)].map((value) => escapeLiteral(value));
    return `INSERT INTO ${this.table} (part, id, checksum) VALUES (${values.join(', ')})`;
  }
}
