import { HoldfastError } from './holdfast.error.js';

/**
 * TransactionAbortedError says that a transaction could not commit because a statement in it failed and the error was caught (R3).
 *
 * `cause` is that first error (K72). Everything was rolled back. To go on after an error, put the statement inside a savepoint
 * (`SAVEPOINT` … `ROLLBACK TO SAVEPOINT`, or a nested `manager.transaction()`).
 */
export class TransactionAbortedError extends HoldfastError {
  constructor(cause: unknown) {
    super(
      'kernel.transaction_aborted',
      'The transaction was rolled back: a statement in it had failed (see cause) and the error was caught. ' +
        'To go on after a failed statement, run it inside a savepoint; else let the error through.',
      { cause },
    );
  }
}
