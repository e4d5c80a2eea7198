import { HoldfastError } from '../../errors/holdfast.error.js';

/** SchemaNewerError says that a newer version has migrated the schema further than this one can take back. */
export class SchemaNewerError extends HoldfastError {
  constructor(
    readonly schema: string,
    readonly unknown: readonly string[],
  ) {
    super(
      'migrate.schema_newer',
      `The schema ${JSON.stringify(schema)} carries ${unknown.join(', ')}, which this version does not know and so cannot take back. ` +
        'Run the migration with the newer version; to run this version on the newer schema nothing needs to be done.',
    );
  }
}
