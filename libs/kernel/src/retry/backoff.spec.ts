import { InvalidDurationError } from '../errors/invalid-duration.error.js';
import { Backoff } from './backoff.js';
import { outageDelayMs } from './outage-delay.js';

const FAR = [8, 32, 64, 1_023, 1_100];

describe('a backoff', () => {
  it.each([2, 10])(
    'K57: with factor %d and no jitter it grows to its bound and stays there, at any attempt',
    (factor) => {
      const backoff = new Backoff({ base: '1s', factor, jitter: 0, max: '1h' });
      let before = 0;
      for (let attempt = 1; attempt <= 1_100; attempt++) {
        const delay = backoff.delayMs(attempt);
        expect(delay).toBeGreaterThanOrEqual(before);
        expect(delay).toBeLessThanOrEqual(3_600_000);
        before = delay;
      }
      expect(backoff.delayMs(1)).toBe(1_000);
      expect(backoff.delayMs(2)).toBe(1_000 * factor);
      for (const attempt of FAR)
        expect(backoff.delayMs(attempt)).toBe(Math.min(3_600_000, 1_000 * factor ** (attempt - 1)));
    },
  );

  it.each([2, 10])('K57: with factor %d and jitter it stays inside its bounds, at any attempt', (factor) => {
    const backoff = new Backoff({ base: '1s', factor, jitter: 1, max: '1h' });
    for (const random of [0, 0.5, 0.999_999]) {
      for (const attempt of [1, ...FAR]) {
        const delay = backoff.delayMs(attempt, () => random);
        expect(Number.isSafeInteger(delay)).toBe(true);
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThanOrEqual(3_600_000);
      }
    }
  });

  it('R9: a bound beyond 2^31 ms is honoured', () => {
    expect(new Backoff({ base: '1s', jitter: 0, max: '365d' }).delayMs(1_000)).toBe(365 * 86_400_000);
  });

  it('R9: takes named delays in order and repeats the last, without jitter unless asked for', () => {
    const backoff = new Backoff({ delays: ['10s', '1m', '1h'] });
    expect([1, 2, 3, 4, 1_000].map((attempt) => backoff.delayMs(attempt))).toEqual([
      10_000, 60_000, 3_600_000, 3_600_000, 3_600_000,
    ]);
    const spread = new Backoff({ delays: ['10s'], jitter: 0.5 });
    expect(spread.delayMs(1, () => 0)).toBe(5_000);
    expect(spread.delayMs(1, () => 1)).toBe(10_000);
  });

  it('K57: takes an attempt that is no number, or below 1, for the first', () => {
    const backoff = new Backoff({ delays: ['10s', '1m'] });
    for (const attempt of [Number.NaN, 0, -5, 0.5, -Infinity]) expect(backoff.delayMs(attempt)).toBe(10_000);
    expect(backoff.delayMs(Infinity)).toBe(60_000);
    expect(new Backoff({ base: '1s', jitter: 0, max: '1h' }).delayMs(Infinity)).toBe(3_600_000);
    expect(new Backoff({ base: '0s', jitter: 0, max: '1h' }).delayMs(5_000)).toBe(0);
  });

  it('refuses what would be no backoff', () => {
    expect(() => new Backoff({ delays: [] })).toThrow(RangeError);
    expect(() => new Backoff({ delays: ['soon'] })).toThrow(InvalidDurationError);
    for (const factor of [0, 0.5, -1, Number.NaN, Infinity])
      expect(() => new Backoff({ base: '1s', factor, max: '1h' })).toThrow(RangeError);
    for (const jitter of [-0.1, 1.1, Number.NaN])
      expect(() => new Backoff({ base: '1s', jitter, max: '1h' })).toThrow(RangeError);
  });

  it('R10: an outage is waited out as long as it has lasted, within bounds', () => {
    const bounds = { baseMs: 5_000, maxMs: 600_000 };
    expect([0, 4_000, 60_000, 86_400_000, -1].map((away) => outageDelayMs(away, bounds))).toEqual([
      5_000, 5_000, 60_000, 600_000, 5_000,
    ]);
  });
});
