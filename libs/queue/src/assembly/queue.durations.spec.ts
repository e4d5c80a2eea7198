import { Database } from '@holdfast/kernel';
import { defineJob } from '../domain/definition.js';
import { type } from '../domain/payload.schema.js';
import { resolveQueueOptions } from './queue.options.check.js';

/** It opens nothing: the options only look whether it could. */
class UnusedDatabase extends Database {
  readonly identity = this;
  readonly poolSize = 10;
  begin(): never {
    throw new Error('Nothing is opened here.');
  }
  connectionConfig(): object {
    return {};
  }
}

const DAY_MS = 86_400_000;
const LONG: [string, number][] = [
  ['30d', 30 * DAY_MS],
  ['365d', 365 * DAY_MS],
];
const ODD: unknown[] = ['-1s', 'NaN', 'Infinity', 'soon', '', '4000d', 5, -1, Number.NaN, Infinity, {}];

const resolve = (run: object) => resolveQueueOptions({ database: new UnusedDatabase(), run });
const define = (options: object) => defineJob('test.job', { payload: type<object>(), ...options });

describe('lengths of time in the options of a queue', () => {
  describe.each(['grace', 'poll'] as const)('K55: run.%s', (name) => {
    it.each(LONG)('takes %s', (text, ms) => {
      expect(resolve({ [name]: text }).run).toMatchObject({ [`${name}Ms`]: ms });
      expect(resolve({ [`${name}Ms`]: ms }).run).toMatchObject({ [`${name}Ms`]: ms });
    });

    it.each(ODD)('refuses %p by its name', (value) => {
      expect(() => resolve({ [name]: value })).toThrow(`run.${name}`);
    });

    it.each([-1, Number.NaN, Infinity, '5s'])('refuses %p as milliseconds', (value) => {
      expect(() => resolve({ [`${name}Ms`]: value })).toThrow(`${name}Ms`);
    });
  });
});

describe('lengths of time in a definition', () => {
  it.each(LONG)('K55: timeout, maxDefer and backoff take %s', (text, ms) => {
    expect(define({ maxDefer: text, timeout: text })).toMatchObject({ maxDeferMs: ms, timeoutMs: ms });
    expect(define({ backoff: { delays: [text] } }).backoff).toEqual({ delays: [text] });
    expect(define({ backoff: { base: text, max: text } }).backoff).toEqual({ base: text, max: text });
  });

  it.each(ODD)('K55: timeout, maxDefer and backoff refuse %p', (value) => {
    for (const options of [
      { timeout: value },
      { maxDefer: value },
      { backoff: { delays: [value] } },
      { backoff: { base: value, max: '1h' } },
      { backoff: { base: '1s', max: value } },
    ])
      expect(() => define(options)).toThrow(Object.keys(options)[0]);
  });

  it('K55: a timeout of zero, or of less than a millisecond, is refused: it would end at once', () => {
    for (const timeout of ['0s', '0.4ms']) expect(() => define({ timeout })).toThrow('timeout');
  });

  it('K55: a fraction is rounded to milliseconds', () => {
    expect(define({ timeout: '1.5ms' }).timeoutMs).toBe(2);
    expect(define({ timeout: '0.5m' }).timeoutMs).toBe(30_000);
  });
});
