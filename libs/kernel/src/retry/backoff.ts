import { parseDuration } from '../time/duration.js';

/** BackoffByDelays names each delay; the last one repeats. */
export interface BackoffByDelays {
  readonly delays: readonly string[];
  /** jitter spreads each delay by up to this part of itself, inside [0, the longest delay]. Default 0. */
  readonly jitter?: number;
}

/** BackoffByGrowth grows the delay: base · factor^(n−1), at most `max`. */
export interface BackoffByGrowth {
  readonly base: string;
  /** Default 2. */
  readonly factor?: number;
  readonly max: string;
  /** jitter spreads each delay by up to this part of itself, inside [0, max]. Default 0.2. */
  readonly jitter?: number;
}

/** BackoffOptions is how long failed attempts wait (R9). */
export type BackoffOptions = BackoffByDelays | BackoffByGrowth;

/** Backoff answers the delay before the next attempt: finite at any attempt, never past its bound, monotone without jitter (R9, K57). */
export class Backoff {
  private readonly delayOf: (attempt: number) => number;
  private readonly jitter: number;
  private readonly maxMs: number;

  /** Throws RangeError for no delays, a factor below 1 or a jitter outside 0..1, and InvalidDurationError for a bad duration. */
  constructor(options: BackoffOptions) {
    this.jitter = options.jitter ?? ('delays' in options ? 0 : 0.2);
    if (!(this.jitter >= 0 && this.jitter <= 1)) throw new RangeError('A backoff needs a jitter between 0 and 1.');
    if ('delays' in options) {
      const delays = options.delays.map(parseDuration);
      if (delays.length === 0) throw new RangeError('A backoff needs at least one delay.');
      this.maxMs = Math.max(...delays);
      this.delayOf = (attempt) => delays[Math.min(attempt, delays.length) - 1]!;
    } else {
      const base = parseDuration(options.base);
      const factor = options.factor ?? 2;
      if (!(factor >= 1 && Number.isFinite(factor))) throw new RangeError('A backoff needs a factor of at least 1.');
      this.maxMs = parseDuration(options.max);
      this.delayOf = (attempt) =>
        Math.min(this.maxMs, base * Math.min(factor ** (attempt - 1), Number.MAX_SAFE_INTEGER));
    }
  }

  /** delayMs answers the wait after failed attempt `attempt` (1 is the first), in milliseconds. */
  delayMs(attempt: number, random: () => number = Math.random): number {
    const delay = this.delayOf(attempt >= 1 ? Math.floor(attempt) : 1);
    const spread = delay * this.jitter * (2 * random() - 1);
    return Math.round(Math.min(this.maxMs, Math.max(0, delay + spread)));
  }
}
