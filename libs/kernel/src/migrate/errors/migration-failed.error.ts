import { HoldfastError } from '../../errors/holdfast.error.js';

/** MigrationFailedError says which statement of which migration failed; `cause` is the database's error. */
export class MigrationFailedError extends HoldfastError {
  constructor(
    readonly migration: string,
    readonly direction: 'up' | 'down',
    /** statement is its position in the migration, from 1. */
    readonly statement: number,
    readonly transactional: boolean,
    cause: unknown,
  ) {
    super(
      'migrate.failed',
      `Statement ${statement} of ${migration} (${direction}) failed: ${cause instanceof Error ? cause.message : String(cause)}. ` +
        (transactional
          ? 'Nothing of it was kept; remove the cause and run it again.'
          : 'What came before it in this migration was kept; remove the cause and run it again.'),
      { cause },
    );
  }
}
