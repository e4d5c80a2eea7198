import { isErrorCode } from './error-code.js';

/**
 * HoldfastError is the base of every error that Holdfast throws.
 *
 * `code` is stable, lower-case and dotted (`queue.lease_lost`); it may be shown, stored and logged. The message says what to do.
 */
export class HoldfastError extends Error {
  constructor(
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    if (!isErrorCode(code))
      throw new TypeError(`${JSON.stringify(code)} is no error code: use lower-case words joined by dots.`);
    this.name = new.target.name;
  }
}
