import { UnavailableError } from './classified.errors.js';

/** PoolExhaustedError says that every connection of a pool was in use for as long as one was waited for. */
export class PoolExhaustedError extends UnavailableError {
  constructor(
    readonly poolSize: number,
    readonly waitedMs: number,
    readonly waiting: number,
    cause?: unknown,
  ) {
    super('kernel.pool_exhausted', {
      cause,
      message:
        `All ${poolSize} connections of the pool were in use for ${waitedMs} ms (${waiting} waiting). ` +
        'Raise the size of the pool (poolSize, max), lower the number of slots, or look for transactions that are never ended.',
    });
  }
}
