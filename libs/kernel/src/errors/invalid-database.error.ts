import { HoldfastError } from './holdfast.error.js';

/** InvalidDatabaseError says that `pgPool` or `typeOrm` was given something else than it takes, and what to give it. */
export class InvalidDatabaseError extends HoldfastError {
  constructor(
    /** maker is the function that refused, such as `pgPool`. */
    readonly maker: string,
    readonly reason: string,
  ) {
    super('kernel.invalid_database', `${maker} cannot make a database of this: ${reason}.`);
  }
}
