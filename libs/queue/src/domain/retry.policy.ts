import {
  errorChain,
  property,
  Backoff,
  type BackoffOptions,
  type FailureClass,
  failureClassOf,
  isErrorCode,
  outageDelayMs,
  parseDuration,
} from '@holdfast/kernel/pure';
import { codeOf, DEFAULT_FAILURE_CODE, describeClass, describeMessage } from './error.summary.js';
import type { ErrorDetail, FailureRecord } from './failure.js';
import type { Conclusion } from './settlement.js';

/** Classification is what a hook says about an error. */
export interface Classification {
  /** after is the delay until the next attempt, such as a Retry-After: `'30s'` (R9). Anything else is ignored, also a bare number. */
  readonly after?: string;
  readonly class: FailureClass;
  readonly code?: string;
}

/** ClassifyError sorts a thrown value; undefined leaves it to the next hook, and at last to the error's own class. What it throws is ignored. */
export type ClassifyError = (error: unknown) => Classification | FailureClass | undefined;

/** FailedAttempt is what a decision about a failure is made from. */
export interface FailedAttempt {
  readonly attempt: number;
  readonly backoff: BackoffOptions;
  /** classifiers are asked in order: the definition's, then the module's. */
  readonly classifiers?: readonly (ClassifyError | undefined)[] | undefined;
  /** connectionLost: the connection of the run's own transaction was lost in mid-run (R5). */
  readonly connectionLost?: boolean | undefined;
  /** deferredMs is how long the outage that this job waits out has lasted, or null. */
  readonly deferredMs: number | null;
  readonly error: unknown;
  readonly errorDetail?: ErrorDetail | undefined;
  /** losses is how many times in a row the connection was lost before this one. */
  readonly losses: number;
  readonly maxAttempts: number | null;
  /** maxDeferMs bounds an outage, from its first deferral; then failures spend attempts (R10). */
  readonly maxDeferMs: number;
  readonly random?: (() => number) | undefined;
}

/** FailureDecision is what becomes of a failed attempt, with what is counted and logged of it. */
export interface FailureDecision {
  readonly code: string;
  readonly conclusion: Conclusion;
  readonly failureClass: FailureClass;
}

/** Deferrals wait between these bounds, as long as the outage has lasted already (R10). */
export const OUTAGE_DELAY = Object.freeze({ baseMs: 10_000, maxMs: 600_000 });

/** How often in a row a connection lost in mid-run spends no attempt (R5). */
export const FREE_LOSSES = 3;

/** The longest wait that an error can ask for with `after`: a year. */
const MAX_AFTER_MS = 365 * 86_400_000;
/** A lost connection is tried again soon: the pool has a new one at once, a failover takes seconds. */
const LOSS_DELAY_MS = 1_000;

/**
 * decideFailure decides what becomes of a failed attempt (R8, R9, R10). It never throws, whatever was thrown.
 *
 * Permanent, through any wrapping: a dead letter at once. Unavailable: deferred, the attempt given back, until maxDefer. Otherwise the
 * attempt is spent: another one after the backoff, or a dead letter when it was the last.
 */
export function decideFailure(failed: FailedAttempt): FailureDecision {
  const verdict = classify(failed);
  const failure = recordOf(failed, verdict.code);
  const decided = (conclusion: Conclusion): FailureDecision => ({
    code: verdict.code,
    conclusion,
    failureClass: verdict.class,
  });
  const exhausted = failed.maxAttempts !== null && failed.attempt >= failed.maxAttempts;
  if (verdict.class === 'permanent') return decided({ verb: 'bury', failure });
  if (failed.connectionLost && (failed.losses < FREE_LOSSES || !exhausted)) {
    return decided({
      verb: 'lose',
      delayMs: verdict.afterMs ?? LOSS_DELAY_MS * 2 ** Math.min(failed.losses, FREE_LOSSES),
      failure,
    });
  }
  const deferMs =
    verdict.class === 'unavailable' && !failed.connectionLost ? deferralMs(failed, verdict.afterMs) : undefined;
  if (deferMs !== undefined) return decided({ verb: 'defer', delayMs: deferMs, failure });
  if (exhausted) return decided({ verb: 'bury', failure });
  // One outage is deferred for maxDefer in all, not for as long again after each attempt that it spends.
  const outage = verdict.class === 'unavailable' && !failed.connectionLost ? { outage: true as const } : {};
  return decided({ verb: 'retry', delayMs: verdict.afterMs ?? backoffMs(failed), failure, ...outage });
}

interface Verdict {
  readonly afterMs: number | undefined;
  readonly class: FailureClass;
  readonly code: string;
}

/** delayOf answers what `after` asks for at most a year, or undefined where it asks for nothing that is a delay with its unit. */
function delayOf(after: unknown): number | undefined {
  if (typeof after !== 'string') return undefined;
  try {
    return Math.min(parseDuration(after), MAX_AFTER_MS);
  } catch {
    return undefined;
  }
}

function askHook(classifier: ClassifyError, error: unknown): Verdict | undefined {
  try {
    const answer = classifier(error);
    const said: Partial<Classification> = typeof answer === 'object' ? { ...answer } : { class: answer };
    if (said.class !== 'permanent' && said.class !== 'unavailable' && said.class !== 'retryable') return undefined;
    const code = isErrorCode(said.code) ? said.code : (codeOf(error) ?? DEFAULT_FAILURE_CODE);
    return { afterMs: delayOf(said.after ?? property(error, 'after')), class: said.class, code };
  } catch {
    return undefined;
  }
}

function backoffMs(failed: FailedAttempt): number {
  return new Backoff(failed.backoff).delayMs(failed.attempt, failed.random);
}

function classify(failed: FailedAttempt): Verdict {
  for (const classifier of failed.classifiers ?? []) {
    const said = classifier && askHook(classifier, failed.error);
    if (said) return said;
  }
  const errors = errorChain(failed.error);
  const rank: readonly FailureClass[] = ['permanent', 'unavailable', 'retryable'];
  const deciding = rank
    .map((wanted) => errors.find((error) => failureClassOf(error) === wanted))
    .find((error) => error !== undefined);
  return {
    afterMs: delayOf(property(deciding, 'after')),
    class: failureClassOf(deciding) ?? 'retryable',
    code: codeOf(deciding) ?? codeOf(failed.error) ?? DEFAULT_FAILURE_CODE,
  };
}

/** deferralMs answers how long to wait out an outage, or undefined when it has lasted longer than it may. */
function deferralMs(failed: FailedAttempt, afterMs: number | undefined): number | undefined {
  const awayMs = failed.deferredMs ?? 0;
  if (awayMs >= failed.maxDeferMs) return undefined;
  // The last deferral ends where the outage may last no longer; a moment that the other side named itself is kept.
  return afterMs ?? Math.min(outageDelayMs(awayMs, OUTAGE_DELAY), Math.max(0, failed.maxDeferMs - awayMs));
}

function recordOf(failed: FailedAttempt, code: string): FailureRecord {
  const detail = failed.errorDetail ?? 'class';
  return {
    attempt: failed.attempt,
    code,
    errorClass: detail === 'code' ? undefined : describeClass(failed.error),
    message: detail === 'message' ? describeMessage(failed.error) : undefined,
  };
}
