import { RefusedRequestError } from './refused-request.error.js';

/** PayloadTooLargeError says that a payload is over the byte limit, before any SQL was sent (Q2, K92). */
export class PayloadTooLargeError extends RefusedRequestError {
  constructor(
    readonly kind: string,
    readonly limitBytes: number,
  ) {
    super(
      'queue.payload_too_large',
      `The payload of ${kind} is over ${limitBytes} bytes as JSON: store the data and enqueue its id, or raise payloadLimitBytes.`,
    );
  }
}
