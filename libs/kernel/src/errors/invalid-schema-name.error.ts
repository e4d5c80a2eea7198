import { HoldfastError } from './holdfast.error.js';

/** InvalidSchemaNameError says that a schema name cannot be used, and why. */
export class InvalidSchemaNameError extends HoldfastError {
  constructor(
    readonly schema: string,
    readonly reason: string,
  ) {
    super('kernel.invalid_schema_name', `The schema name ${JSON.stringify(schema)} cannot be used: ${reason}.`);
  }
}
