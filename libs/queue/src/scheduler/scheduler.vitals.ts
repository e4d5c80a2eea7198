/** SchedulerVitals are a scheduler's signs of life (H1); moments are of the monotonic clock (`performance.now()`). */
export interface SchedulerVitals {
  readonly isLeader: boolean;
  /** lastError is what the last tick failed with; undefined after one that did not. */
  readonly lastError: unknown;
  /** lastStepAt is when the last tick ended, one that failed too: a loop that hangs no longer moves it. */
  readonly lastStepAt: number | undefined;
  /** lastTickAt is when the last tick that did not fail ended. */
  readonly lastTickAt: number | undefined;
  /** leaderSeenAt is when a leader was last seen to act: this process, or by the start of its last duty another one. */
  readonly leaderSeenAt: number | undefined;
  /** startedAt is undefined before the start and after the stop. */
  readonly startedAt: number | undefined;
  readonly tickMs: number;
}
