import { InvalidRunnerOptionsError } from '../errors/invalid-runner-options.error.js';
import { resolveRunnerOptions, type RunnerOptions } from './runner.options.js';

const DAY_MS = 86_400_000;

/** The options that are lengths of time, each as an option alone and as it is read back. */
const DURATIONS: [string, (ms: number) => RunnerOptions, (resolved: ReturnType<typeof resolve>) => number][] = [
  ['abortWaitMs', (abortWaitMs) => ({ abortWaitMs }), ({ abortWaitMs }) => abortWaitMs],
  ['graceMs', (graceMs) => ({ graceMs }), ({ graceMs }) => graceMs],
  ['intakeGapMs', (intakeGapMs) => ({ intakeGapMs }), ({ intakeGapMs }) => intakeGapMs],
  ['overrunMs', (overrunMs) => ({ overrunMs }), ({ overrunMs }) => overrunMs],
  ['pollMs', (pollMs) => ({ pollMs }), ({ pollMs }) => pollMs],
  ['quiesceMs', (quiesceMs) => ({ quiesceMs }), ({ quiesceMs }) => quiesceMs],
  [
    'leases.attachedMarginMs',
    (attachedMarginMs) => ({ leases: { attachedMarginMs, boundMarginMs: 0 } }),
    ({ leases }) => leases.attachedMarginMs,
  ],
  [
    'leases.boundMarginMs',
    (boundMarginMs) => ({ leases: { attachedMarginMs: 3_650 * DAY_MS, boundMarginMs } }),
    ({ leases }) => leases.boundMarginMs,
  ],
  ['leases.detachedMs', (detachedMs) => ({ leases: { detachedMs } }), ({ leases }) => leases.detachedMs],
];

function resolve(options: RunnerOptions) {
  return resolveRunnerOptions(options, 'the test');
}

function problemsOf(options: RunnerOptions): readonly string[] {
  try {
    resolve(options);
  } catch (error) {
    if (error instanceof InvalidRunnerOptionsError) return error.problems;
    throw error;
  }
  return [];
}

describe('resolveRunnerOptions', () => {
  describe.each(DURATIONS)('K55: %s', (name, optionOf, readBack) => {
    it.each([30 * DAY_MS, 365 * DAY_MS])('takes %d ms as it stands', (ms) => {
      expect(readBack(resolve(optionOf(ms)))).toBe(ms);
    });

    it.each([-1, Number.NaN, Infinity, -Infinity, '5s' as unknown as number, null as unknown as number])(
      'refuses %p by its name',
      (ms) => {
        expect(problemsOf(optionOf(ms))[0]).toMatch(new RegExp(`^${name} must be a number of milliseconds`));
      },
    );

    it('takes a fraction', () => {
      expect(readBack(resolve(optionOf(1_500.4)))).toBe(1_500.4);
    });
  });

  it('K55: a poll of zero is no hot loop', () => {
    expect(resolve({ pollMs: 0 }).pollMs).toBe(10);
  });

  it('K55: a lease too short to be renewed, or no longer than its bound, is refused', () => {
    expect(problemsOf({ leases: { detachedMs: 0 } })).toEqual(['leases.detachedMs must be at least 300']);
    expect(problemsOf({ leases: { attachedMarginMs: 0, boundMarginMs: 0 } })).toHaveLength(1);
  });

  it.each(['0s', '0.4ms', '-1s', 'soon', '', 5 as unknown as string])(
    'K55: a timeout of %p for a kind of this deployment is refused, as it is in a definition',
    (timeout) => {
      expect(problemsOf({ kinds: { 'mail.send': { timeout } } })[0]).toMatch(/^kinds\.mail\.send\.timeout/);
    },
  );

  it.each([
    ['30d', 30 * DAY_MS],
    ['365d', 365 * DAY_MS],
  ])('K55: a timeout of %s for a kind of this deployment is taken', (timeout, ms) => {
    expect(resolve({ kinds: { 'mail.send': { timeout } } }).kindOptions('mail.send').timeoutMs).toBe(ms);
  });

  it.each([0, -1, 1.5, Number.NaN, Infinity, 10_001])('K55: %p slots, or runs of a kind at once, are refused', (n) => {
    expect(problemsOf({ kinds: { 'mail.send': { concurrency: n } }, slots: n })).toHaveLength(2);
  });

  it("R17: a drain with the defaults, with what it takes to give jobs back, ends before Kubernetes' own 30 s", () => {
    const { abortWaitMs, graceMs } = resolve({});
    const giveBackWithinMs = 5_000;
    expect([graceMs, graceMs + abortWaitMs + giveBackWithinMs]).toEqual([20_000, 26_000]);
  });

  it.each<[string, object]>([
    ['slotz is no option', { slotz: 5 }],
    ['poll is no option', { poll: '2s' }],
    ['leases must be an object', { leases: null }],
    ['leases.attached is no option', { leases: { attached: 5 } }],
    ['kinds.a must be an object', { kinds: { a: null } }],
    ['kinds.a must be an object', { kinds: { a: '30s' } }],
    ['kinds.a.timeoutMs is no option of a kind', { kinds: { a: { timeoutMs: 5 } } }],
    ['only must be a list', { only: 'mail.send' }],
    ['except must be a list', { except: [5] }],
    ['owner must be a text', { owner: '' }],
    ['owner must be a text', { owner: 'a\0' }],
    ['owner must be a text', { owner: 'x'.repeat(201) }],
    ['owner must be a text', { owner: 7 }],
  ])('says that %s, which would quietly do nothing, or fail each claim', (problem, options) => {
    expect(problemsOf(options)).toEqual([expect.stringContaining(problem)]);
  });

  it('reports all problems together', () => {
    const problems = problemsOf({
      except: ['a'],
      graceMs: -1,
      kinds: { a: { concurrency: 0, maxAttempts: 0, timeout: '0s' } },
      leases: { detachedMs: Number.NaN },
      only: ['b'],
      pollMs: Infinity,
      slots: 0,
    });
    expect(problems).toHaveLength(8);
  });
});
