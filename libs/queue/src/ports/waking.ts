/** WakingVitals tell whether notifications arrive; `since` is of the monotonic clock. */
export interface WakingVitals {
  /** error of the last try, while it polls. */
  readonly error?: unknown;
  /** queueUsage is how full the server's notification queue was when it was last asked, 0 to 1 (K96). */
  readonly queueUsage?: number | undefined;
  readonly since: number;
  /** state: `polling` when nothing arrives; it is tried again and again. */
  readonly state: 'listening' | 'polling' | 'starting';
}

/** WakingEvents are what a waking says. */
export interface WakingEvents {
  /** listening: notifications arrive from here on. */
  listening(): void;
  /** lost: none arrives, until the next `listening`. */
  lost(error: unknown): void;
  /** wake: look, there may be work of the kinds that were named. */
  wake(): void;
}

/**
 * Waking brings a runner word of what others have committed (Q10). Nothing depends on it: whatever it misses, the poll finds.
 *
 * Others send a word only while somebody says that it is idle, so that busy processes cost nobody anything.
 */
export abstract class Waking {
  /** connections answers how many connections of its own it holds, by what they carry (R19). */
  get connections(): Readonly<Record<string, number>> {
    return {};
  }

  abstract get vitals(): WakingVitals;

  /**
   * idle says for which kinds this process would start a job at once and does not look by itself; none while it is busy. From a `wake` that comes
   * after it on, no commit of these kinds goes by without another, unless `lost` was said.
   */
  abstract idle(kinds: readonly string[]): void;

  /** start begins to listen; what fails is told, and tried again. */
  abstract start(events: WakingEvents): void;

  /** stop ends it, within about two seconds. It never rejects; it can be started again. */
  abstract stop(): Promise<void>;
}
