import { HoldfastError } from '../../errors/holdfast.error.js';

/** SchemaAccessError says that this role may not read the history of migrations. */
export class SchemaAccessError extends HoldfastError {
  constructor(
    readonly schema: string,
    options: ErrorOptions,
  ) {
    super(
      'migrate.schema_access',
      `This role may not read the history of migrations of the schema ${JSON.stringify(schema)}. ` +
        'Grant it the rights of an application role (docs/privileges.md).',
      options,
    );
  }
}
