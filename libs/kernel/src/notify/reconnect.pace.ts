import { Backoff } from '../retry/backoff.js';
import type { ListenerTimings } from './listener.ports.js';

/** ReconnectPace says how long to wait for the next session: longer with every one that was lost soon, and from the beginning after one that has stood. */
export class ReconnectPace {
  private readonly backoff: Backoff;
  private failures = 0;

  constructor(private readonly timings: Pick<ListenerTimings, 'firstDelayMs' | 'maxDelayMs' | 'stableMs'>) {
    const { firstDelayMs, maxDelayMs } = timings;
    this.backoff = new Backoff({ base: `${firstDelayMs}ms`, factor: 2, jitter: 0.2, max: `${maxDelayMs}ms` });
  }

  /** afterMs answers the wait after a session that stood for so long; 0 for one that could not be opened. */
  afterMs(stoodMs: number): number {
    this.failures = stoodMs >= this.timings.stableMs ? 1 : this.failures + 1;
    return this.backoff.delayMs(this.failures);
  }
}
