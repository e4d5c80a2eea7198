import { HoldfastError } from '@holdfast/kernel/pure';

/** InvalidOutcomeError says that a handler's outcome cannot be stored, and what to write instead. */
export class InvalidOutcomeError extends HoldfastError {
  constructor(readonly reason: string) {
    super(
      'queue.invalid_outcome',
      `This outcome cannot be stored: ${reason}. Use lower-case codes joined by dots, and numbers.`,
    );
  }
}
