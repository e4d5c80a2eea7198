import { ConfigurationError } from '../configuration/configuration.error.js';

/** DatabaseUnreachableError says that there is no connecting to the database of DATABASE_URL. It may be starting: only this is tried again. */
export class DatabaseUnreachableError extends ConfigurationError {
  constructor(reason: string) {
    super([`DATABASE_URL: this database cannot be used: ${reason}.`]);
    this.name = 'DatabaseUnreachableError';
  }
}
