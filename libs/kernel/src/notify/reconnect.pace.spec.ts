import { ReconnectPace } from './reconnect.pace.js';

const JITTER = 0.2;
const near = (ms: number) => [ms * (1 - JITTER), ms * (1 + JITTER)] as const;

describe('ReconnectPace', () => {
  it('Q10: the wait doubles with every failure up to a bound, and begins anew after a session that has stood', () => {
    const pace = new ReconnectPace({ firstDelayMs: 100, maxDelayMs: 1_000, stableMs: 10_000 });
    for (const [stoodMs, expected] of [
      [0, 100],
      [0, 200],
      // One that is lost again at once is no new beginning.
      [9_999, 400],
      [0, 800],
      [0, 1_000],
      [0, 1_000],
      [10_000, 100],
      [0, 200],
    ] as const) {
      const waitMs = pace.afterMs(stoodMs);
      const [least, most] = near(expected);
      expect(waitMs).toBeGreaterThanOrEqual(least);
      expect(waitMs).toBeLessThanOrEqual(Math.min(most, 1_000));
    }
  });
});
