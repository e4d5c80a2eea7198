import { RefusedRequestError } from './refused-request.error.js';

/** BatchTooLargeError says that the requests of one `enqueueMany` are too many bytes together, before any SQL was sent; `index` is the first beyond (Q8). */
export class BatchTooLargeError extends RefusedRequestError {
  constructor(
    readonly kind: string,
    readonly limitBytes: number,
  ) {
    super(
      'queue.batch_too_large',
      `With the job of kind ${kind} the batch is over ${limitBytes} bytes: enqueue it in parts, within one transaction if it is to be all or nothing.`,
    );
  }
}
