import { HoldfastError } from '@holdfast/kernel/pure';

/** InvalidDutyError says which duty cannot be used, and why. */
export class InvalidDutyError extends HoldfastError {
  constructor(
    /** source names the method, or the name that the duty was given. */
    readonly source: string,
    readonly reason: string,
  ) {
    super('queue.invalid_duty', `The duty ${source} cannot be used: ${reason}.`);
  }
}
