import { InvalidDeadlineError } from '../errors/invalid-deadline.error.js';
import type { LeaderTransactionOptions } from '../ports/leadership.js';

/** checkDeadline throws InvalidDeadlineError for a deadline that no timer could keep. */
export function checkDeadline({ deadlineMs }: LeaderTransactionOptions): void {
  const given: unknown = deadlineMs;
  if (given !== undefined && !(Number.isFinite(given) && (given as number) > 0)) throw new InvalidDeadlineError(given);
}
