import { RefusedRequestError } from './refused-request.error.js';
import { unended } from './unended.js';

/** InvalidRequestError says which field of a request was refused before any SQL was sent, and why (Q2). */
export class InvalidRequestError extends RefusedRequestError {
  constructor(
    readonly kind: string,
    readonly field: string,
    readonly reason: string,
  ) {
    super('queue.request_refused', `A job of kind ${kind} cannot be enqueued: ${field} ${unended(reason)}.`);
  }
}
