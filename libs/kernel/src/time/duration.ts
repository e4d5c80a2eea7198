import { InvalidDurationError } from '../errors/invalid-duration.error.js';

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const PATTERN = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)$/;
/** Ten years: beyond it a duration is taken for a mistake of unit. */
const MAX_DURATION_MS = 10 * 365 * UNITS.d;

/** Duration is a length of time with its unit: `'250ms'`, `'30s'`, `'1.5h'`, `'14d'`, `'2w'`. */
export type Duration = `${number}${keyof typeof UNITS}` | `${number} ${keyof typeof UNITS}`;

/**
 * parseDuration answers a duration in whole milliseconds.
 *
 * Throws InvalidDurationError for anything but digits with a unit, and for more than ten years (K55).
 */
export function parseDuration(value: Duration | string): number {
  const match = typeof value === 'string' ? PATTERN.exec(value.trim()) : null;
  if (!match) throw new InvalidDurationError(value, "write a number with a unit, such as '30s' or '1h'");
  const ms = Math.round(Number(match[1]) * UNITS[match[2] as keyof typeof UNITS]);
  if (ms > MAX_DURATION_MS) throw new InvalidDurationError(value, 'it is over ten years');
  return ms;
}
