import { HoldfastError } from '@holdfast/kernel/pure';

/** InvalidInterceptorError says which interceptor cannot be used, or broke the contract of a call, and how. */
export class InvalidInterceptorError extends HoldfastError {
  constructor(
    readonly interceptor: string,
    readonly reason: string,
  ) {
    super('queue.invalid_interceptor', `The job interceptor ${interceptor} cannot be used: ${reason}.`);
  }
}
