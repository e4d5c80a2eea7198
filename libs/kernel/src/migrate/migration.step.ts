import type { SchemaName } from '../sql/schema-name.js';
import { MigrationFailedError } from './errors/migration-failed.error.js';
import { SchemaMissingError } from './errors/schema-missing.error.js';
import type { MigrationConnection } from './migration.connection.js';
import type { MigrationHistory } from './migration.history.js';
import { isTransactional, type Migration } from './migration.js';

/** MigrationStep is what happens under the migration lock: one migration and its row in the history. */
export class MigrationStep {
  constructor(
    private readonly schema: SchemaName,
    private readonly history: MigrationHistory,
  ) {}

  /** apply runs a migration and records it; the schema and the history are made first where they are missing. */
  async apply(connection: MigrationConnection, migration: Migration): Promise<void> {
    for (const statement of await this.preparation(connection)) await connection.query(statement);
    await this.run(connection, migration, 'up');
    await connection.query(this.history.record(migration));
  }

  /** preparation answers the statements that make what is missing of the schema and the history. Throws SchemaMissingError where it may not. */
  async preparation(connection: MigrationConnection): Promise<string[]> {
    const place = await this.history.place(connection);
    if (!place.schema_exists && !place.may_create) {
      throw new SchemaMissingError(this.schema.name, this.schema.quoted, place.role);
    }
    return [
      ...(place.schema_exists ? [] : [`CREATE SCHEMA ${this.schema.quoted}`]),
      ...(place.history_exists ? [] : this.history.creation()),
    ];
  }

  /** revert takes a migration back and forgets it; with the last one the history goes too, so that nothing of ours is left. */
  async revert(connection: MigrationConnection, migration: Migration): Promise<void> {
    await this.run(connection, migration, 'down');
    await connection.query(this.history.forget(migration));
    if ((await this.history.read(connection)).length === 0) await connection.query(this.history.drop());
  }

  private async run(connection: MigrationConnection, migration: Migration, direction: 'up' | 'down'): Promise<void> {
    for (const [index, statement] of migration[direction](this.schema).entries()) {
      try {
        await connection.query(statement);
      } catch (cause) {
        throw new MigrationFailedError(migration.id, direction, index + 1, isTransactional(migration), cause);
      }
    }
  }
}
