import { isConnectionLost, pause } from '@holdfast/kernel';
import type { Settlement } from '../domain/settlement.js';
import { LeaseLostError } from '../errors/lease-lost.error.js';
import type { JobStore, SettleAnswer } from '../ports/job-store.js';
import type { Reporter } from '../ports/reporter.js';
import type { JobEvent } from '../ports/runner.events.js';
import type { Run } from './run.js';
import type { RunEnd } from './run.end.js';
import type { SettlementBatch } from './settlement.batch.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** What the server refuses, though it was reached, is not made better by many tries. */
const REFUSED_TRIES = 3;

/**
 * SettlementRecorder maps the end of a run to a verb of the store, and to its event once it is durable.
 *
 * A store that is not reached is tried again until the lease has run out, or the drain has ended: the fence makes that harmless, and a done job is
 * not run twice for a restart of the server. It never rejects.
 */
export class SettlementRecorder {
  private readonly ending = new AbortController();

  constructor(
    private readonly store: JobStore,
    private readonly batch: SettlementBatch,
    private readonly reporter: Reporter,
  ) {}

  /** end waits for no further try: what is not recorded by now comes back when its lease has run out. */
  end(): void {
    this.ending.abort();
  }

  async record(run: Run, end: RunEnd): Promise<void> {
    if (end.type === 'lost') return this.reporter.report(lost(run, end.error));
    if (end.type === 'committed') return this.reporter.report(told(run, end.completion, { counts: end.counts }));
    try {
      const held = await this.settle(run, end.settlement);
      if (held === 'cancelled') return this.reporter.report(cancelled(run, end.error));
      this.reporter.report(
        held ? told(run, end.settlement, end) : lost(run, new LeaseLostError(run.ref.id, { cause: end.error })),
      );
    } catch (error) {
      this.reporter.report({ type: 'job.unrecorded', error, run: run.ref });
    }
  }

  /** settle answers whether the lease was held when the settlement was written, by this try or by an earlier one whose answer was lost. */
  private async settle(run: Run, settlement: Settlement): Promise<SettleAnswer> {
    let unsure = false;
    for (let tries = 1; ; tries += 1) {
      try {
        const held = await this.batch.settle({ lease: run.lease, settlement });
        if (held !== false) return held;
        return unsure && (await this.wasWritten(run, settlement));
      } catch (error) {
        unsure = true;
        const reached = !isConnectionLost(error);
        if (run.leaseLeftMs <= 0 || this.ending.signal.aborted || (reached && tries >= REFUSED_TRIES)) throw error;
        const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries, 10));
        await pause(Math.max(1, Math.min(pauseMs, run.leaseLeftMs)), this.ending.signal);
      }
    }
  }

  /** wasWritten: an earlier try whose answer was lost has ended the attempt. A failure has, unless the reaper was first. */
  private async wasWritten(run: Run, { verb }: Settlement): Promise<boolean> {
    const verdict = await this.store.verdict(run.lease, run.claimed.attempt);
    return verb === 'complete' || verb === 'repeat' ? verdict === 'settled' : verdict !== 'expired';
  }
}

function cancelled(run: Run, error: unknown): JobEvent {
  return { type: 'job.cancelled', error, ranMs: run.ranMs, run: run.ref };
}

function lost(run: Run, error: Error): JobEvent {
  return { type: 'job.lost', error, ranMs: run.ranMs, run: run.ref };
}

/** told is the event of a settlement that is durable. */
function told(
  run: Run,
  settlement: Settlement,
  end: Pick<Extract<RunEnd, { type: 'record' }>, 'counts' | 'error' | 'failureClass' | 'reason'>,
): JobEvent {
  const { ranMs, ref } = run;
  const common = { ranMs, run: ref };
  const { error, failureClass = 'retryable' } = end;
  switch (settlement.verb) {
    case 'complete':
    case 'repeat':
      return {
        ...common,
        type: 'job.completed',
        counts: end.counts,
        outcome: settlement.outcome,
        verb: settlement.verb,
      };
    case 'retry':
      return {
        ...common,
        type: 'job.retried',
        code: settlement.failure.code,
        delayMs: settlement.delayMs,
        error,
        failureClass,
      };
    case 'defer':
    case 'lose': {
      const { delayMs, failure, verb } = settlement;
      return { ...common, type: 'job.deferred', code: failure.code, delayMs, error, failureClass, verb };
    }
    case 'refuse':
      return { ...common, type: 'job.refused', code: settlement.code };
    case 'bury':
      return { ...common, type: 'job.dead_lettered', code: settlement.failure.code, error, failureClass };
    case 'cancel':
      return cancelled(run, error);
    case 'giveBack':
      return { type: 'job.given_back', reason: end.reason ?? 'shutdown', run: ref };
  }
}
