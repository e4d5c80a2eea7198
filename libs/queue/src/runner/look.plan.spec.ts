import { LookPlan } from './look.plan.js';

const POLL_MS = 2_000;
const HINT = { asked: false, polled: false, sweep: false };

describe('LookPlan', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  /** polled is a plan whose first look, and whose sweep at the first poll, are over. */
  const polled = () => {
    const plan = new LookPlan(POLL_MS);
    plan.take(false, true);
    plan.polled();
    return plan;
  };

  it('R18: looks in full at first, then with every poll, and for what is seldom there with every other one', () => {
    const plan = new LookPlan(POLL_MS);
    expect(plan.take(false, true)).toEqual({ asked: true, polled: true, sweep: true });
    for (const sweep of [false, true, false]) {
      plan.polled();
      expect(plan.take(false, true)).toBeUndefined();
      jest.advanceTimersByTime(POLL_MS);
      expect(plan.take(false, true)).toEqual({ asked: false, polled: true, sweep });
    }
    plan.polled();
    plan.sweepAgain();
    jest.advanceTimersByTime(POLL_MS);
    expect(plan.take(false, true)).toMatchObject({ sweep: true });
  });

  it('R18: a poll may come a fifth earlier, and never later', () => {
    const plan = polled();
    for (let n = 0; n < 100; n++) {
      plan.polled();
      expect(plan.pollInMs).toBeLessThanOrEqual(POLL_MS);
      expect(plan.pollInMs).toBeGreaterThan(POLL_MS * 0.79);
    }
  });

  it('R18: what was asked, and what failed and is due again, is a full look', () => {
    const plan = polled();
    plan.ask();
    expect(plan.isAsked).toBe(true);
    expect(plan.take(false, false)).toEqual({ asked: true, polled: true, sweep: true });
    expect(plan.take(true, false)).toEqual({ asked: true, polled: true, sweep: true });
  });

  it('Q10: a notification is a look of the small kind, once, and leaves the poll where it is', () => {
    const plan = polled();
    const pollInMs = plan.pollInMs;
    plan.notified();
    expect(plan.hintInMs).toBe(0);
    expect(plan.take(false, true)).toEqual(HINT);
    expect(plan.take(false, true)).toBeUndefined();
    expect(plan.pollInMs).toBe(pollInMs);
  });

  it('Q10: a hint for which there is no room waits for it', () => {
    const plan = polled();
    plan.notified();
    plan.dueIn(0);
    jest.advanceTimersByTime(10);
    expect(plan.take(false, false)).toBeUndefined();
    expect(plan.take(false, true)).toEqual(HINT);
    expect(plan.take(false, true)).toBeUndefined();
  });

  it('Q10: what this process put back is looked for when it is due, unless the poll comes first', () => {
    const plan = polled();
    expect(plan.dueIn(POLL_MS)).toBe(false);
    expect(plan.dueIn(300)).toBe(true);
    expect(plan.hintInMs).toBe(301);
    jest.advanceTimersByTime(300);
    expect(plan.take(false, true)).toBeUndefined();
    jest.advanceTimersByTime(1);
    expect(plan.take(false, true)).toEqual(HINT);
  });

  it('Q10: many notifications make it look by itself until it finds nothing', () => {
    const plan = polled();
    for (let n = 0; n < 6; n++) plan.notified();
    expect(plan.sparesWakes).toBe(true);
    expect(plan.take(false, true)).toEqual(HINT);
    plan.looked(true);
    expect(plan.hintInMs).toBe(10);
    jest.advanceTimersByTime(10);
    expect(plan.take(false, true)).toEqual(HINT);
    for (let n = 0; n < 3; n++) plan.looked(false);
    expect(plan.sparesWakes).toBe(false);
    expect(plan.hintInMs).toBe(Infinity);
  });
});
