import { UnavailableError } from './classified.errors.js';

/** ConnectionLostError says that a connection to PostgreSQL could not be made or broke; nothing of an open transaction on it has committed (K14). */
export class ConnectionLostError extends UnavailableError {
  constructor(
    /** doing is what was tried, such as `begin a transaction`. */
    readonly doing: string,
    cause: unknown,
  ) {
    super('kernel.connection_lost', {
      cause,
      message: `The connection to PostgreSQL was lost or could not be made (to ${doing}). Nothing has been committed; try again.`,
    });
  }
}
