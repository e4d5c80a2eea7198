import { HoldfastError } from '@holdfast/kernel/pure';

/** InvalidHandlerError says which handler cannot be used, and why. */
export class InvalidHandlerError extends HoldfastError {
  constructor(
    readonly handler: string,
    readonly reason: string,
    /** chain names the providers from the handler to the one that is the reason, where it is one that the handler injects. */
    readonly chain: readonly string[] = [],
  ) {
    super('queue.invalid_handler', `The job handler ${handler} cannot be used: ${reason}.`);
  }
}
