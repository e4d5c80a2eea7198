import { HoldfastError } from './holdfast.error.js';

/** TransactionSettledError says that a transaction was used after it had been committed or rolled back (R4). */
export class TransactionSettledError extends HoldfastError {
  constructor() {
    super(
      'kernel.transaction_settled',
      'The transaction has been settled: nothing can be sent through it any more. Await every query before the function that got the transaction returns.',
    );
  }
}
