import { InvalidDurationError } from '../errors/invalid-duration.error.js';
import { parseDuration } from './duration.js';

describe('parseDuration', () => {
  it.each([
    ['0s', 0],
    ['250ms', 250],
    ['30s', 30_000],
    ['1.5h', 5_400_000],
    [' 2 m ', 120_000],
    ['0.4ms', 0],
    ['14d', 1_209_600_000],
    ['30d', 2_592_000_000],
    ['2w', 1_209_600_000],
    ['365d', 31_536_000_000],
  ])('reads %j as %i ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    '',
    '30',
    's',
    '-1s',
    '+1s',
    '1e3s',
    'Infinity s',
    'NaNs',
    '1 year',
    '1s 2s',
    '1,5s',
    '3651d',
    30,
    null,
    undefined,
    {},
    Number.NaN,
  ])('K55: refuses %j and says how to write one', (value) => {
    expect(() => parseDuration(value as string)).toThrow(InvalidDurationError);
  });
});
