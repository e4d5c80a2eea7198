import { HoldfastError } from '../../errors/holdfast.error.js';

/** MigrationsPendingError says that the schema is older than this version of the code: migrations have not been applied. */
export class MigrationsPendingError extends HoldfastError {
  constructor(
    readonly schema: string,
    readonly pending: readonly string[],
  ) {
    super(
      'migrate.pending',
      `The schema ${JSON.stringify(schema)} lacks ${pending.join(', ')}. Apply them before this version starts: ` +
        `\`await new Migrator(client, …).up()\` as the tables' owner, or the option \`migrations: 'up'\`.`,
    );
  }
}
