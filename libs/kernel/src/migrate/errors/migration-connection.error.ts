import { HoldfastError } from '../../errors/holdfast.error.js';

/** MigrationConnectionError says that what was handed to the migrator is not one connection without an open transaction. */
export class MigrationConnectionError extends HoldfastError {
  constructor(readonly reason: string) {
    super(
      'migrate.connection',
      `Migrations need one connection to themselves: ${reason}. Hand over a connected \`pg\` Client.`,
    );
  }
}
