import { HoldfastError } from '../../errors/holdfast.error.js';

/** SchemaMissingError says that the schema does not exist and that this role may not create it. */
export class SchemaMissingError extends HoldfastError {
  constructor(
    readonly schema: string,
    readonly quoted: string,
    readonly role: string,
  ) {
    super(
      'migrate.schema_missing',
      `The schema ${JSON.stringify(schema)} does not exist and the role ${JSON.stringify(role)} may not create it. ` +
        `Have it created: CREATE SCHEMA ${quoted} AUTHORIZATION "${role.replaceAll('"', '""')}";`,
    );
  }
}
