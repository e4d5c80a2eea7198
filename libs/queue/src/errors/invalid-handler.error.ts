import { HoldfastError } from '@holdfast/kernel/pure';

/** InvalidHandlerError says which handler cannot be used, and why. */
export class InvalidHandlerError extends HoldfastError {
  constructor(
    readonly handler: string,
    readonly reason: string,
  ) {
    super('queue.invalid_handler', `The job handler ${handler} cannot be used: ${reason}.`);
  }
}
