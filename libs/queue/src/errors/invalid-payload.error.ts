import { RefusedRequestError } from './refused-request.error.js';
import { unended } from './unended.js';

/** InvalidPayloadError says that a payload was refused before any SQL was sent, where in it and why (Q2). It never quotes the payload's values. */
export class InvalidPayloadError extends RefusedRequestError {
  constructor(
    readonly kind: string,
    /** path is the place: `payload.items[3].name`. */
    readonly path: string,
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super('queue.payload_refused', `The payload of ${kind} cannot be enqueued: ${path} ${unended(reason)}.`, options);
  }
}
