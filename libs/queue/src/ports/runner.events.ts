import type { FailureClass } from '@holdfast/kernel';
import type { Counts } from '../domain/outcome.js';
import type { IntakeResult, ReapResult } from './job-store.js';

/** RunRef names one attempt in an event; it carries no payload. */
export interface RunRef {
  readonly attempt: number;
  readonly id: string;
  readonly kind: string;
  readonly tenantId: string | null;
}

/** LoopStage is the part of the runner that an error came from; `pass`: what failed outside every other. */
export type LoopStage =
  | 'cancels'
  | 'claim'
  | 'endings'
  | 'give-back'
  | 'intake'
  | 'kinds'
  | 'pass'
  | 'presence'
  | 'progress'
  | 'reap'
  | 'suspects';

/** ConnectionRole says how many database connections a role holds at most (R19). */
export interface ConnectionRole {
  readonly connections: number;
  readonly role: string;
}

/** JobEvent is what became of one attempt; those that end it come after their write is durable. */
export type JobEvent =
  | { readonly type: 'job.started'; readonly run: RunRef; readonly waitedMs: number }
  /** The attempt's effects and its completion have committed (R1). */
  | {
      readonly type: 'job.completed';
      readonly counts: Counts | undefined;
      readonly outcome: string | null;
      readonly ranMs: number;
      readonly run: RunRef;
      readonly verb: 'complete' | 'repeat';
    }
  | { readonly type: 'job.refused'; readonly code: string; readonly ranMs: number; readonly run: RunRef }
  /** The attempt failed and the job waits for the next one. */
  | {
      readonly type: 'job.retried';
      readonly code: string;
      readonly delayMs: number;
      readonly error: unknown;
      readonly failureClass: FailureClass;
      readonly ranMs: number;
      readonly run: RunRef;
    }
  /** The other side, or our own database in mid-run (`lose`), was not reached: no attempt is spent (R5, R10). */
  | {
      readonly type: 'job.deferred';
      readonly code: string;
      readonly delayMs: number;
      readonly error: unknown;
      readonly failureClass: FailureClass;
      readonly ranMs: number;
      readonly run: RunRef;
      readonly verb: 'defer' | 'lose';
    }
  | {
      readonly type: 'job.dead_lettered';
      readonly code: string;
      readonly error: unknown;
      readonly failureClass: FailureClass;
      readonly ranMs: number;
      readonly run: RunRef;
    }
  /** Somebody asked for it while the attempt ran: the job is CANCELLED (R16). `error` is what the handler threw, if it did for another reason. */
  | { readonly type: 'job.cancelled'; readonly error: unknown; readonly ranMs: number; readonly run: RunRef }
  /** The job is PENDING again with its attempt: it did not start, or a shutdown stopped it (Q13, R17). */
  | { readonly type: 'job.given_back'; readonly reason: 'lease_short' | 'shutdown'; readonly run: RunRef }
  /** The lease was no longer ours: whatever the run wrote was rolled back and nothing was recorded (R2). */
  | { readonly type: 'job.lost'; readonly error: Error; readonly ranMs: number; readonly run: RunRef }
  /** A serialization failure or a deadlock: the attempt is run again at once (R9). */
  | { readonly type: 'job.rerun'; readonly error: unknown; readonly rerun: number; readonly run: RunRef }
  /** The handler goes on after it was told to stop; its slot stays taken (R6). */
  | { readonly type: 'job.overrun'; readonly overMs: number; readonly returned: boolean; readonly run: RunRef }
  /** The handler threw after it had settled the run: what it settled stands. */
  | { readonly type: 'job.threw_after_finish'; readonly error: unknown; readonly run: RunRef }
  /** The end of an attempt could not be recorded within its bounds; the lease runs out and the job is reaped. */
  | { readonly type: 'job.unrecorded'; readonly error: unknown; readonly run: RunRef };

/** RunnerEvent is everything a runner reports. */
export type RunnerEvent =
  | JobEvent
  | { readonly type: 'claim.answered'; readonly asked: number; readonly fullLook: boolean; readonly got: number }
  /** The answer to a claim was lost; what it took has been given back by its token (R5). */
  | { readonly type: 'claim.given_back'; readonly jobs: number; readonly token: string }
  /** Several runs of a kind have committed together; the event of each follows. `openMs` is how long their transaction was open (R21). */
  | { readonly type: 'group.committed'; readonly kind: string; readonly members: number; readonly openMs: number }
  /** A group was rolled back, and those of it that had begun are run one by one. `by` is the run at which it failed, where one can be told (R21). */
  | {
      readonly type: 'group.rerun';
      readonly by: RunRef | undefined;
      readonly error: unknown;
      readonly kind: string;
      readonly members: number;
    }
  /** Somebody paused a kind that runs here: nothing of it is claimed until it is resumed (A1). */
  | { readonly type: 'kind.paused' | 'kind.resumed'; readonly kind: string }
  | { readonly type: 'intake.done'; readonly result: IntakeResult }
  /** Live jobs of kinds without a handler here: they are not touched and spend nothing (Q11). */
  | { readonly type: 'kinds.unknown'; readonly kinds: readonly string[] }
  | { readonly type: 'lease.renewal_failed'; readonly error: unknown; readonly leases: number }
  | { readonly type: 'lease.renewed'; readonly leases: number }
  | {
      readonly type: 'loop.failed';
      readonly delayMs: number;
      readonly error: unknown;
      readonly failures: number;
      readonly stage: LoopStage;
    }
  | { readonly type: 'loop.recovered'; readonly failures: number; readonly stage: LoopStage }
  /** The event loop was busy for this long without a pause; renewals and timeouts were late by as much (K110). */
  | { readonly type: 'process.blocked'; readonly blockedMs: number }
  | { readonly type: 'reap.done'; readonly result: ReapResult }
  | { readonly type: 'runner.drained'; readonly abandoned: number; readonly givenBack: number }
  | { readonly type: 'runner.draining'; readonly graceMs: number; readonly running: number }
  | {
      readonly type: 'runner.started';
      readonly connections: readonly ConnectionRole[];
      readonly kinds: readonly string[];
      readonly slots: number;
      readonly warnings: readonly string[];
    }
  | { readonly type: 'runner.stopped' }
  /** Notifications arrive (again): work that others commit is seen at once (Q10). */
  | { readonly type: 'waking.listening' }
  /** No notification arrives: work that others commit is seen by the poll. It is tried again. */
  | { readonly type: 'waking.lost'; readonly error: unknown }
  /** Suspects are due: nothing is claimed until this process is idle, so that each of them runs alone (Q12). */
  | { readonly type: 'suspects.awaited'; readonly due: number; readonly running: number }
  /** This process did not become idle in time: it claims again, and tries later. */
  | { readonly type: 'suspects.postponed'; readonly retryMs: number; readonly running: number };
