import { UnavailableError } from './classified.errors.js';

/**
 * ConnectionLostError says that a connection to PostgreSQL could not be made or broke (K14).
 *
 * A transaction that was open on it has not committed. Of a single statement that was on its way, nobody knows.
 */
export class ConnectionLostError extends UnavailableError {
  constructor(
    /** doing is what was tried, such as `begin a transaction`, or the name of a statement. */
    readonly doing: string,
    cause: unknown,
  ) {
    super('kernel.connection_lost', {
      cause,
      message: `The connection to PostgreSQL was lost or could not be made (${doing}; see cause). Try again once the server can be reached.`,
    });
  }
}
