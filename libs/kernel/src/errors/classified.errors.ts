import { HoldfastError } from './holdfast.error.js';

/** FailureClass says how a failure is answered: never again, later without spending an attempt, or again after a backoff. */
export type FailureClass = 'permanent' | 'unavailable' | 'retryable';

/** The brand survives a second copy of this package in one process, where `instanceof` does not. */
const FAILURE_CLASS = Symbol.for('holdfast.failure-class');

/** ClassifiedErrorOptions tell more about a classified error. */
export interface ClassifiedErrorOptions {
  /** after is the delay until the next attempt, such as `'30s'`; it wins over the backoff (R9). Anything else is ignored, also a bare number. */
  readonly after?: string;
  readonly cause?: unknown;
  readonly message?: string;
}

/** PermanentError ends a job as a dead letter at once: trying again cannot help (R10). */
export class PermanentError extends HoldfastError {
  readonly [FAILURE_CLASS] = 'permanent' satisfies FailureClass;

  constructor(code: string, options: Omit<ClassifiedErrorOptions, 'after'> = {}) {
    super(code, options.message ?? `Permanent failure: ${code}.`, { cause: options.cause });
  }
}

/** UnavailableError says that the other side was not reached: the job waits and no attempt is spent (R10). */
export class UnavailableError extends HoldfastError {
  readonly [FAILURE_CLASS] = 'unavailable' satisfies FailureClass;
  readonly after: string | undefined;

  constructor(code: string, options: ClassifiedErrorOptions = {}) {
    super(code, options.message ?? `Unavailable: ${code}.`, { cause: options.cause });
    this.after = options.after;
  }
}

/** RetryableError is a failed attempt with a code, and with a moment of its own where it names one (R9). */
export class RetryableError extends HoldfastError {
  readonly [FAILURE_CLASS] = 'retryable' satisfies FailureClass;
  readonly after: string | undefined;

  constructor(code: string, options: ClassifiedErrorOptions = {}) {
    super(code, options.message ?? `Retryable failure: ${code}.`, { cause: options.cause });
    this.after = options.after;
  }
}

/** failureClassOf answers the class an error was branded with, or undefined. It never throws, whatever the value is (R8). */
export function failureClassOf(error: unknown): FailureClass | undefined {
  try {
    if (typeof error !== 'object' || error === null) return undefined;
    const brand: unknown = (error as Record<PropertyKey, unknown>)[FAILURE_CLASS];
    return brand === 'permanent' || brand === 'unavailable' || brand === 'retryable' ? brand : undefined;
  } catch {
    return undefined;
  }
}
