import { Backoff, PermanentError, RetryableError, UnavailableError } from '@holdfast/kernel/pure';
import * as fc from 'fast-check';
import { decideFailure, type FailedAttempt } from './retry.policy.js';

const decide = (error: unknown, more: Partial<FailedAttempt> = {}) =>
  decideFailure({
    attempt: 1,
    backoff: { delays: ['10s', '1m'] },
    deferredMs: null,
    error,
    losses: 0,
    maxAttempts: 8,
    maxDeferMs: 86_400_000,
    ...more,
  });

const withCause = (cause: unknown, message = 'outer') => new Error(message, { cause });

class QueryFailedError extends Error {
  override readonly name = 'QueryFailedError';
  readonly driverError = Object.assign(new Error('duplicate key value (secret)'), {
    name: 'DatabaseError',
    code: '23505',
  });
}

const thrower = {
  get: () => {
    throw new Error('get');
  },
};
const hostile = new Proxy(
  {},
  {
    get: () => {
      throw new Error('get');
    },
    getPrototypeOf: () => {
      throw new Error('proto');
    },
    has: () => {
      throw new Error('has');
    },
    ownKeys: () => {
      throw new Error('keys');
    },
  },
);
const revoked = (() => {
  const made = Proxy.revocable({}, {});
  made.revoke();
  return made.proxy;
})();
const cyclic = new Error('cycle');
cyclic.cause = new AggregateError([cyclic, withCause(cyclic)]);

const THROWN: [string, unknown][] = [
  ['undefined', undefined],
  ['null', null],
  ['0', 0],
  ['NaN', Number.NaN],
  ['a bigint', 1n],
  ['a symbol', Symbol('s')],
  ['a string', 'oh'],
  ['a string with U+0000', 'a\0b'],
  ['a function', () => 1],
  ['a frozen object', Object.freeze({ message: 'x' })],
  [
    'an object with throwing getters',
    Object.defineProperties({}, { cause: thrower, code: thrower, message: thrower, name: thrower }),
  ],
  ['a hostile Proxy', hostile],
  ['a revoked Proxy', revoked],
  ['a cycle of causes', cyclic],
  ['an AggregateError', new AggregateError([new Error('a'), 'b', undefined])],
  ['an error with a 5 MB message', new Error('x'.repeat(5_000_000))],
  [
    'an error with U+0000 everywhere',
    Object.assign(withCause(new Error('\0')), { message: '\0', name: '\0', stack: '\0', code: '\0', extra: '\0' }),
  ],
  ['an error whose message is no string', Object.assign(new Error(), { message: { a: 1 } })],
  ['an object without a prototype', Object.create(null)],
];

describe('decideFailure', () => {
  it.each(THROWN)('R8, K3, K36: %s is one failed attempt with a bounded, storable reason', (_, thrown) => {
    for (const errorDetail of ['code', 'class', 'message'] as const) {
      const { code, conclusion, failureClass } = decide(thrown, { errorDetail });
      expect([code, failureClass, conclusion.verb]).toEqual(['queue.job_failed', 'retryable', 'retry']);
      const stored = JSON.stringify(conclusion);
      expect(stored.length).toBeLessThan(5_000);
      expect(stored).not.toMatch(/\\u0000|\\ud[89a-f]/);
      if (errorDetail === 'class')
        expect(conclusion).toMatchObject({ failure: { errorClass: expect.stringMatching(/^[\w.$ <]+$/) as unknown } });
    }
  });

  it('R8: never throws and always answers something storable, whatever is thrown', () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withNullPrototype: true,
          withSparseArray: true,
          withSymbol: true,
        } as fc.ObjectConstraints),
        fc.integer({ min: 1, max: 100 }),
        (thrown, attempt) => {
          const { conclusion } = decide(thrown, { attempt, errorDetail: 'message' });
          expect(JSON.stringify(conclusion)).not.toMatch(/\\u0000|\\ud[89a-f]/);
        },
      ),
    );
  });

  it('R8: keeps the class and never the message by default', () => {
    const { conclusion } = decide(withCause(new QueryFailedError('insert failed: secret'), 'secret'));
    expect(conclusion).toMatchObject({
      failure: { attempt: 1, code: 'queue.job_failed', errorClass: 'Error < QueryFailedError < DatabaseError 23505' },
    });
    expect(JSON.stringify(conclusion)).not.toContain('secret');
  });

  it('R8: names an HTTP status and the codes of Node', () => {
    const http = Object.assign(new Error('x'), {
      name: 'AxiosError',
      response: { status: 503 },
      code: 'ERR_BAD_RESPONSE',
    });
    const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
    expect(decide(withCause(refused)).conclusion).toMatchObject({
      failure: { errorClass: 'Error < Error ECONNREFUSED' },
    });
    expect(decide(http).conclusion).toMatchObject({ failure: { errorClass: 'AxiosError HTTP 503 ERR_BAD_RESPONSE' } });
  });

  it('R8: keeps what it was asked to keep', () => {
    const failure = (errorDetail: 'code' | 'message') => decide(new Error('a\0b\uD800'), { errorDetail }).conclusion;
    expect(failure('code')).toMatchObject({ failure: { errorClass: undefined, message: undefined } });
    expect(failure('message')).toMatchObject({ failure: { errorClass: 'Error', message: 'a\uFFFDb\uFFFD' } });
  });

  it('R8: takes the code of a coded error, else queue.job_failed', () => {
    expect(decide(new RetryableError('crm.busy')).code).toBe('crm.busy');
    expect(decide(withCause(new RetryableError('crm.busy'))).code).toBe('crm.busy');
    expect(decide(Object.assign(new Error(), { code: 'Not A Code' })).code).toBe('queue.job_failed');
    expect(decide(Object.assign(new Error(), { code: '23505' })).code).toBe('queue.job_failed');
    expect(decide(Object.assign(new Error(), { code: 'a'.repeat(101) })).code).toBe('queue.job_failed');
  });

  it('R9: waits by the backoff and spends the attempt', () => {
    expect(decide(new Error(), { attempt: 1 }).conclusion).toMatchObject({ verb: 'retry', delayMs: 10_000 });
    expect(decide(new Error(), { attempt: 5 }).conclusion).toMatchObject({ verb: 'retry', delayMs: 60_000 });
  });

  it('R9: `after` of the error wins, within a year; what is no delay is ignored', () => {
    const delay = (after: unknown) =>
      (decide(new RetryableError('a', { after: after as string })).conclusion as { delayMs: number }).delayMs;
    expect(delay('90s')).toBe(90_000);
    expect(delay('30d')).toBe(2_592_000_000);
    expect(delay('1.4ms')).toBe(1);
    expect(delay('0s')).toBe(0);
    expect(delay('3000d')).toBe(31_536_000_000);
    // A bare number has no unit: nobody can tell seconds from milliseconds.
    for (const none of ['9y', '30', 30, 0, Number.NaN, Infinity, null, {}]) expect(delay(none)).toBe(10_000);
    expect(decide(withCause(new UnavailableError('a', { after: '7m' }))).conclusion).toMatchObject({
      verb: 'defer',
      delayMs: 420_000,
    });
  });

  it('R9, K57: is finite, bounded and monotone at any attempt', () => {
    const backoff = { base: '1s', factor: 10, max: '1h', jitter: 0 };
    let last = 0;
    for (const attempt of [1, 2, 8, 32, 64, 1023, 1100]) {
      const { conclusion } = decide(new Error(), { attempt, backoff, maxAttempts: null });
      const { delayMs } = conclusion as { delayMs: number };
      expect(delayMs).toBeGreaterThanOrEqual(last);
      expect(delayMs).toBeLessThanOrEqual(3_600_000);
      last = delayMs;
    }
  });

  it('K61: the first failure after many deferrals waits as the first', () => {
    const first = new Backoff({ delays: ['10s', '1m'] }).delayMs(1);
    expect(decide(new Error(), { attempt: 1, deferredMs: 3_600_000 }).conclusion).toMatchObject({
      verb: 'retry',
      delayMs: first,
    });
  });

  it('ends as a dead letter when the last attempt is spent, and never when attempts are unlimited', () => {
    expect(decide(new Error(), { attempt: 8 }).conclusion.verb).toBe('bury');
    expect(decide(new Error(), { attempt: 7 }).conclusion.verb).toBe('retry');
    expect(decide(new Error(), { attempt: 100_000, maxAttempts: null }).conclusion.verb).toBe('retry');
  });

  it('R10: permanent is a dead letter at once', () => {
    expect(decide(new PermanentError('a.gone'))).toMatchObject({
      code: 'a.gone',
      conclusion: { verb: 'bury' },
      failureClass: 'permanent',
    });
  });

  it.each<[string, unknown]>([
    ['a cause', new UnavailableError('b.away', { cause: new PermanentError('a.gone') })],
    ['a deep cause', withCause(withCause(withCause(new PermanentError('a.gone'))))],
    [
      'an AggregateError',
      new AggregateError([new UnavailableError('b.away'), withCause(new PermanentError('a.gone'))]),
    ],
    ['a driver error', Object.assign(new UnavailableError('b.away'), { driverError: new PermanentError('a.gone') })],
  ])('R10: permanent outranks unavailable through %s, and its code is kept', (_, error) => {
    expect(decide(error)).toMatchObject({ code: 'a.gone', failureClass: 'permanent', conclusion: { verb: 'bury' } });
  });

  it('R10: unavailable is deferred without spending an attempt, also at the last one', () => {
    expect(decide(new UnavailableError('a.away'), { attempt: 8 })).toMatchObject({
      failureClass: 'unavailable',
      conclusion: { verb: 'defer', delayMs: 10_000 },
    });
  });

  it('R10: the delay grows with the length of the outage between base and max', () => {
    const delay = (deferredMs: number) =>
      (decide(new UnavailableError('a'), { deferredMs }).conclusion as { delayMs: number }).delayMs;
    expect([0, 5_000, 60_000, 500_000, 5_000_000].map(delay)).toEqual([10_000, 10_000, 60_000, 500_000, 600_000]);
  });

  it('R10: past maxDefer an outage spends attempts, and the last deferral ends there', () => {
    expect(decide(new UnavailableError('a'), { deferredMs: 86_399_000 }).conclusion).toMatchObject({
      verb: 'defer',
      delayMs: 1_000,
    });
    expect(decide(new UnavailableError('a'), { deferredMs: 86_400_000 }).conclusion).toMatchObject({
      outage: true,
      verb: 'retry',
    });
    expect(decide(new Error('a'), { deferredMs: 86_400_000 }).conclusion).not.toHaveProperty('outage');
    expect(decide(new UnavailableError('a'), { attempt: 8, deferredMs: 86_400_000 }).conclusion.verb).toBe('bury');
  });

  it('R5: a lost connection is counted as a loss, and buried only when losses and attempts are used up', () => {
    const lost = (losses: number, attempt: number) =>
      decide(new Error(), { attempt, connectionLost: true, losses }).conclusion.verb;
    expect([lost(0, 8), lost(2, 8), lost(3, 8), lost(3, 7)]).toEqual(['lose', 'lose', 'bury', 'lose']);
  });

  it('asks the definition, then the module, then the error', () => {
    const error = new PermanentError('a.gone');
    const first = jest.fn(() => undefined);
    const second = jest.fn(() => ({ class: 'unavailable', code: 'b.away', after: '1h' }) as const);
    expect(decide(error, { classifiers: [first, undefined, second] })).toMatchObject({
      code: 'b.away',
      conclusion: { verb: 'defer', delayMs: 3_600_000 },
    });
    expect(first).toHaveBeenCalledWith(error);
    expect(decide(error, { classifiers: [() => 'retryable'] })).toMatchObject({
      code: 'a.gone',
      failureClass: 'retryable',
    });
  });

  it('R8: a hook that throws or answers nonsense is passed over', () => {
    const boom = () => {
      throw new Error();
    };
    const nonsense = () => ({ class: 'maybe', code: 5 }) as never;
    expect(
      decide(new PermanentError('a.gone'), { classifiers: [boom, nonsense, () => hostile as never] }),
    ).toMatchObject({ failureClass: 'permanent' });
  });
});
