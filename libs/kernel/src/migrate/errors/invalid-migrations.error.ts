import { HoldfastError } from '../../errors/holdfast.error.js';

/** InvalidMigrationsError says that a list of migrations cannot be run as it is written, and why. */
export class InvalidMigrationsError extends HoldfastError {
  constructor(
    readonly migration: string,
    readonly reason: string,
  ) {
    super('migrate.invalid_migrations', `The migration ${JSON.stringify(migration)} cannot be used: ${reason}.`);
  }
}
