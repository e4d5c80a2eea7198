import { HoldfastError } from '@holdfast/kernel/pure';
import { optionText } from '../domain/text.js';

/** InvalidDeadlineError says that the deadline of a leader's transaction is none: nothing was sent. */
export class InvalidDeadlineError extends HoldfastError {
  constructor(readonly deadlineMs: unknown) {
    super(
      'queue.invalid_deadline',
      `deadlineMs must be a number of milliseconds above 0, not ${optionText(deadlineMs)}.`,
    );
  }
}
