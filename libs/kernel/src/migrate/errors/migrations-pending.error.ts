import { HoldfastError } from '../../errors/holdfast.error.js';

/** MigrationsPendingError says that the schema is older than this version of the code, or not there: migrations have not been applied. */
export class MigrationsPendingError extends HoldfastError {
  constructor(
    readonly schema: string,
    /** pending are the ids of those that are missing, in order; none where it was a statement that found its table missing. */
    readonly pending: readonly string[],
    options?: ErrorOptions,
  ) {
    super(
      'migrate.pending',
      `The schema ${JSON.stringify(schema)} lacks ${pending.join(', ') || 'the migrations that make its tables'}. Apply them before this version starts: ` +
        `\`await new Migrator(client, …).up()\` as the tables' owner, or the option \`migrations: 'up'\`.`,
      options,
    );
  }
}
