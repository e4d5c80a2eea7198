import { HoldfastError } from './holdfast.error.js';

/** TransactionEndedError says that code inside a transaction tried to end it, or has ended it, though it belongs to whoever opened it (R4, K31). */
export class TransactionEndedError extends HoldfastError {
  constructor() {
    super(
      'kernel.transaction_ended',
      'COMMIT, ROLLBACK and the like belong to whoever opened the transaction. Throw to roll it back, return to commit it, ' +
        'or use a savepoint (a nested manager.transaction()) to undo a part of it.',
    );
  }
}
