import { HoldfastError } from '../../errors/holdfast.error.js';

/** MigrationsPendingError says that the schema is older than this version of the code: migrations have not been applied. */
export class MigrationsPendingError extends HoldfastError {
  constructor(
    readonly schema: string,
    readonly pending: readonly string[],
  ) {
    super(
      'migrate.pending',
      `The schema ${JSON.stringify(schema)} lacks ${pending.join(', ')}. Run \`holdfast migrate up\` before this version starts ` +
        `(or set \`migrations: 'up'\`); \`holdfast migrate sql\` prints what it would run.`,
    );
  }
}
