import { HoldfastError } from './holdfast.error.js';

/**
 * CommitUnknownError says that the answer to COMMIT was lost: the transaction has either committed or not (R3).
 *
 * Look at what the transaction would have written, through another connection, before doing it again. `cause` is the loss of the connection.
 */
export class CommitUnknownError extends HoldfastError {
  constructor(cause: unknown) {
    super(
      'kernel.commit_unknown',
      'The answer to COMMIT was lost: the transaction may or may not have committed. Look for its effects before doing it again.',
      { cause },
    );
  }
}
