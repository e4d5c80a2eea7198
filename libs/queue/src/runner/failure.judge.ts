import { UnavailableError } from '@holdfast/kernel';
import { decideFailure } from '../domain/retry.policy.js';
import { JobCancelledError } from '../errors/job-cancelled.error.js';
import { LeaseLostError } from '../errors/lease-lost.error.js';
import { RunStoppedError } from '../errors/run-stopped.error.js';
import type { Run } from './run.js';
import type { RunEnd } from './run.end.js';
import type { ResolvedRunnerOptions } from './runner.options.js';

/** FailureJudge turns what went wrong with a run into its end. */
export class FailureJudge {
  constructor(private readonly options: Pick<ResolvedRunnerOptions, 'classifyError' | 'errorDetail'>) {}

  /** failed is the end of an attempt that threw. */
  failed(run: Run, error: unknown, connectionLost = false): RunEnd {
    const { claimed, plan } = run;
    const { definition } = plan.entry;
    const { conclusion, failureClass } = decideFailure({
      attempt: claimed.attempt,
      backoff: plan.backoff,
      classifiers: [definition.classifyError, this.options.classifyError],
      connectionLost,
      deferredMs: claimed.deferredMs,
      error,
      errorDetail: definition.errorDetail ?? this.options.errorDetail,
      losses: claimed.losses,
      maxAttempts: leastOf(claimed.maxAttempts, plan.maxAttempts),
      maxDeferMs: definition.maxDeferMs,
    });
    return { type: 'record', error, failureClass, settlement: conclusion };
  }

  /** notBegun is the end of a run whose transaction could not be opened: its handler never started, so no attempt is spent. */
  notBegun(run: Run, cause: unknown): RunEnd {
    const message = 'The transaction of a run could not be opened (see cause).';
    return this.failed(run, new UnavailableError('queue.begin_failed', { cause, message }));
  }

  /** shortOfLease is the end of a run that may not start: too little of its lease is left (Q13). */
  shortOfLease(): RunEnd {
    return { type: 'record', reason: 'lease_short', settlement: { verb: 'giveBack' } };
  }

  /** stopped is the end of a run whose signal was aborted. */
  stopped(run: Run, reason: Error): RunEnd {
    if (reason instanceof LeaseLostError) return { type: 'lost', error: reason };
    if (reason instanceof JobCancelledError) return { type: 'record', settlement: { verb: 'cancel' } };
    if (reason instanceof RunStoppedError)
      return { type: 'record', reason: 'shutdown', settlement: { verb: 'giveBack' } };
    return this.failed(run, reason);
  }
}

function leastOf(stored: number | null, override: number | undefined): number | null {
  if (stored === null || override === undefined) return stored ?? override ?? null;
  return Math.min(stored, override);
}
