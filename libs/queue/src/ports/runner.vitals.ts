import type { LoopStage } from './runner.events.js';
import type { WakingVitals } from './waking.js';

/** StageTrouble is a stage of the claim loop that fails. */
export interface StageTrouble {
  /** error of the last failure. */
  readonly error: unknown;
  /** failures in a row. */
  readonly failures: number;
  /** since is when the first of them was begun, by the monotonic clock. */
  readonly since: number;
  readonly stage: LoopStage;
}

/**
 * RunnerVitals tell whether a runner can work, from what its loop does and not from what it was told (H1, K50).
 *
 * Moments are of the monotonic clock (`performance.now()`): a clock that is set makes nobody ill.
 */
export interface RunnerVitals {
  /** kinds that it runs; none before the start. */
  readonly kinds: readonly string[];
  /** lastPassAt is when a pass last ended with no stage in trouble; undefined while there was none. */
  readonly lastPassAt: number | undefined;
  /** lastStepAt is when the loop last did anything: it does at every poll, and no statement of a pass takes longer than its deadline. */
  readonly lastStepAt: number;
  /** paused are the kinds that it would run and that somebody paused (A1). */
  readonly paused: readonly string[];
  /** pollMs is the longest time between two passes of an idle loop. */
  readonly pollMs: number;
  /** running is how many slots are taken. */
  readonly running: number;
  /** runningByKind is how many slots each of its kinds has taken. */
  readonly runningByKind: Readonly<Record<string, number>>;
  readonly slots: number;
  /** startedAt is when the loop was started; undefined before that. */
  readonly startedAt: number | undefined;
  /** state: `idle` before the start, `draining` from the moment it claims nothing more, `stopped` when the drain is over. */
  readonly state: 'draining' | 'idle' | 'running' | 'stopped';
  readonly troubles: readonly StageTrouble[];
  /** waking tells whether it is woken or only polls; undefined where that is nobody's wish. */
  readonly waking?: WakingVitals | undefined;
}
