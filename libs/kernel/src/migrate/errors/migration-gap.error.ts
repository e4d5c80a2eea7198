import { HoldfastError } from '../../errors/holdfast.error.js';

/** MigrationGapError says that a migration is missing below one that was applied: the history was changed by hand. */
export class MigrationGapError extends HoldfastError {
  constructor(
    readonly schema: string,
    readonly missing: string,
    readonly later: string,
  ) {
    super(
      'migrate.gap',
      `The schema ${JSON.stringify(schema)} carries ${later} but not ${missing}, which comes before it. ` +
        'Restore the row in the table "migration" of that schema, or apply the missing migration by hand.',
    );
  }
}
