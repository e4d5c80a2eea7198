import { isErrorCode } from '@holdfast/kernel/pure';
import { InvalidOutcomeError } from '../errors/invalid-outcome.error.js';
import { checkRefusalParams, type RefusalParams } from './refusal.js';
import { quoted } from './text.js';

/** Counts are numbers a run reports, by name; they are logged and metered, never stored (R13). */
export type Counts = Readonly<Record<string, number>>;

/** DoneOutcome ends a job as SUCCEEDED. */
export interface DoneOutcome {
  readonly type: 'done';
  readonly outcome?: string | undefined;
  readonly counts?: Counts | undefined;
}

/** RepeatOutcome sends the same row back to PENDING with attempts 0 (R11). */
export interface RepeatOutcome {
  readonly type: 'repeat';
  /** after is the delay until the next run: `'10m'`. A bare number is refused. */
  readonly after: string;
  readonly outcome?: string | undefined;
  readonly counts?: Counts | undefined;
}

/** RefuseOutcome ends a job as FAILED: an answer, not a failure (R12). */
export interface RefuseOutcome {
  readonly type: 'refuse';
  readonly code: string;
  readonly params?: RefusalParams | undefined;
}

/** Outcome is what a handler leaves when it does not throw. */
export type Outcome = DoneOutcome | RepeatOutcome | RefuseOutcome;

/**
 * done ends the job as SUCCEEDED; a handler that returns nothing means the same.
 *
 * `outcome` is a code stored on the row. Throws InvalidOutcomeError when it is no code, or a count is no finite number.
 */
export function done(options: { outcome?: string; counts?: Counts } = {}): DoneOutcome {
  checkOutcome(options.outcome, options.counts);
  return { type: 'done', ...options };
}

/** repeat sends the job back to run again `after` a delay, as the same row, attempts 0, in the transaction that holds its effects (R11). */
export function repeat(after: string, options: { outcome?: string; counts?: Counts } = {}): RepeatOutcome {
  checkOutcome(options.outcome, options.counts);
  return { type: 'repeat', after, ...options };
}

/** refuse ends the job as FAILED: the handler's writes roll back, nothing is retried, no dead letter is counted (R12). */
export function refuse(code: string, params?: RefusalParams): RefuseOutcome {
  if (!isErrorCode(code)) throw new InvalidOutcomeError(`${quoted(code)} is no refusal code`);
  if (params !== undefined && params !== null) checkRefusalParams(params);
  return { type: 'refuse', code, params };
}

function checkOutcome(outcome: string | undefined, counts: Counts | undefined): void {
  if (outcome !== undefined && !isErrorCode(outcome))
    throw new InvalidOutcomeError(`${quoted(outcome)} is no outcome code`);
  for (const [name, count] of Object.entries(counts ?? {})) {
    if (!isErrorCode(name) || !Number.isFinite(count))
      throw new InvalidOutcomeError(`the count ${quoted(name)} is no finite number under a code`);
  }
}
