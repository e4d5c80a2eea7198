import { HoldfastError } from './holdfast.error.js';

/** InvalidTransactionOptionError says which option of a transaction was refused, before anything was sent, and why. */
export class InvalidTransactionOptionError extends HoldfastError {
  constructor(
    readonly option: string,
    readonly reason: string,
  ) {
    super(
      'kernel.invalid_transaction_option',
      `A transaction cannot be opened with these options: ${option} ${reason}.`,
    );
  }
}
