import { HoldfastError } from '../../errors/holdfast.error.js';

/** MigrationBusyError says that a lock that migrating needs was not to be had within the deadline. */
export class MigrationBusyError extends HoldfastError {
  constructor(
    readonly schema: string,
    readonly waitedMs: number,
    /** holder is who holds the lock, as far as it could be seen. */
    readonly holder: string,
    options?: ErrorOptions,
  ) {
    super(
      'migrate.busy',
      `The schema ${JSON.stringify(schema)} could not be migrated within ${waitedMs} ms: ${holder}. ` +
        'Nothing was changed by this step; wait for the other session or end it (pg_terminate_backend), then run it again.',
      options,
    );
  }
}
