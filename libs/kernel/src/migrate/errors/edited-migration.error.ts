import { HoldfastError } from '../../errors/holdfast.error.js';

/** EditedMigrationError says that an applied migration is no longer what was applied: the schema is not what this code believes. */
export class EditedMigrationError extends HoldfastError {
  constructor(
    readonly schema: string,
    readonly migration: string,
  ) {
    super(
      'migrate.edited',
      `The migration ${migration} was applied to the schema ${JSON.stringify(schema)} with other statements than this version carries. ` +
        'Install the version that applied it, or undo the edit; a change to the schema is a migration of its own.',
    );
  }
}
