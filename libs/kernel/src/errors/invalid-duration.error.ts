import { HoldfastError } from './holdfast.error.js';

/** InvalidDurationError says that a value is no duration, and how to write one. */
export class InvalidDurationError extends HoldfastError {
  constructor(
    readonly value: unknown,
    readonly reason: string,
  ) {
    super('kernel.invalid_duration', `${JSON.stringify(value) ?? String(value)} is no duration: ${reason}.`);
  }
}
