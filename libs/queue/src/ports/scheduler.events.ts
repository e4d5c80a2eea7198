import type { JobStateName } from '../domain/job-state.js';
import type { DatabaseHealth, KindDeferrals } from './housekeeping.js';
import type { KindDepth } from './job-store.js';
import type { ConnectionRole } from './runner.events.js';

/** DutyEvent is what became of a run of a duty; those that end it come after the run has been recorded, or could not be. */
export type DutyEvent =
  | { readonly type: 'duty.started'; readonly name: string }
  | { readonly type: 'duty.done'; readonly name: string; readonly ranMs: number }
  /** The run failed; it is due again in `retryMs`, sooner than a run that is done. */
  | {
      readonly type: 'duty.failed';
      readonly code: string;
      readonly error: unknown;
      readonly failures: number;
      readonly name: string;
      readonly ranMs: number;
      readonly retryMs: number;
    }
  /** The duty goes on after it was told to stop: the others go on without it, and it is not started again before it has returned. */
  | { readonly type: 'duty.overrun'; readonly name: string; readonly overMs: number; readonly returned: boolean }
  /** The end of a run could not be recorded: whoever leads finds that it was started, not how it ended. */
  | { readonly type: 'duty.unrecorded'; readonly error: unknown; readonly name: string };

/** SchedulerStage is the part of a scheduler that an error came from: proving or taking leadership, or looking for duties and starting them. */
export type SchedulerStage = 'duties' | 'leadership';

/** LeaderEvent is what a candidate for the name of the scheduler went through. */
export type LeaderEvent =
  | { readonly type: 'leader.elected'; readonly name: string }
  | { readonly type: 'leader.lost'; readonly error: Error; readonly name: string }
  /** Behind a transaction-mode pooler nobody can lead; it is tried again, as the configuration may be put right (L4). */
  | { readonly type: 'leader.refused'; readonly error: Error; readonly name: string }
  | { readonly type: 'leader.released'; readonly name: string };

/** SchedulerEvent is everything a scheduler reports. */
export type SchedulerEvent =
  | DutyEvent
  | LeaderEvent
  /** Live jobs of kinds that no live process handles; an empty list when there are none any more (S6). */
  | { readonly type: 'kinds.unhandled'; readonly kinds: readonly string[] }
  /** What is due, of every known kind, what waits out an outage (R10), and which kinds a runner that is there handles; from the leader alone (S2). */
  | {
      readonly type: 'queue.depth';
      readonly deferred: readonly KindDeferrals[];
      readonly handled: readonly string[];
      readonly kinds: readonly KindDepth[];
    }
  /** What PostgreSQL says of itself that predicts trouble; from the leader alone (M3). */
  | { readonly type: 'postgres.health'; readonly health: DatabaseHealth }
  /** This process leads no more: what it said of the depth, and of PostgreSQL, is old from here on, so gauges forget it (S2). */
  | { readonly type: 'queue.depth_cleared' }
  /** Finished jobs that had been kept for long enough are removed; with `more` the run's time was over before it came to all of them (S5). */
  | {
      readonly type: 'retention.swept';
      readonly kind: string;
      readonly more: boolean;
      readonly removed: number;
      readonly state: JobStateName;
    }
  /** A stage failed: it is tried again after a delay that grows to a tick. The scheduler lives on. */
  | {
      readonly type: 'scheduler.failed';
      readonly delayMs: number;
      readonly error: unknown;
      readonly failures: number;
      readonly stage: SchedulerStage;
    }
  | { readonly type: 'scheduler.recovered'; readonly failures: number; readonly stage: SchedulerStage }
  | {
      readonly type: 'scheduler.started';
      readonly connections: readonly ConnectionRole[];
      readonly duties: readonly string[];
      readonly tickMs: number;
      readonly warnings: readonly string[];
    }
  /** abandoned duties had not returned when the stop ended; their process should end. */
  | { readonly type: 'scheduler.stopped'; readonly abandoned: readonly string[] }
  /** lagMs is how late the tick began against when it was due, never negative (S1). */
  | { readonly type: 'scheduler.tick'; readonly isLeader: boolean; readonly lagMs: number };
