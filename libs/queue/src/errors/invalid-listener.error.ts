import { HoldfastError } from '@holdfast/kernel/pure';

/** InvalidListenerError says which method marked with `@OnJobEvent` cannot be called, and why. */
export class InvalidListenerError extends HoldfastError {
  constructor(
    readonly listener: string,
    readonly reason: string,
  ) {
    super('queue.invalid_listener', `The listener ${listener} cannot be used: ${reason}.`);
  }
}
