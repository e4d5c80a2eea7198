import { HoldfastError } from '@holdfast/kernel/pure';

/** RefusedRequestError is the base of every refusal of a request before any SQL was sent: the caller's transaction is still usable (Q2). */
export abstract class RefusedRequestError extends HoldfastError {
  /** index is the place of the request in an `enqueueMany`, or undefined. */
  index: number | undefined;

  /** at says which request of an `enqueueMany` it was, in the message as well. */
  at(index: number): this {
    this.index = index;
    this.message = `Request ${index} (counted from 0): ${this.message}`;
    return this;
  }
}
