import { SoonMoments } from './soon.moments.js';

describe('SoonMoments', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('Q10: tells how long it is until the first, and forgets those that have come', () => {
    const soon = new SoonMoments();
    expect(soon.inMs).toBe(Infinity);
    soon.add(50);
    soon.add(20);
    soon.add(20);
    expect(soon.inMs).toBe(21);
    expect(soon.take()).toBe(false);
    jest.advanceTimersByTime(21);
    expect(soon.inMs).toBe(0);
    expect(soon.take()).toBe(true);
    expect(soon.take()).toBe(false);
    expect(soon.inMs).toBe(30);
  });

  it('Q10: a hundred moments are kept, more are left to the poll', () => {
    const soon = new SoonMoments();
    for (let n = 0; n < 100; n++) soon.add(1_000 + n);
    soon.add(1);
    expect(soon.inMs).toBe(1_001);
    jest.advanceTimersByTime(2_000);
    expect(soon.take()).toBe(true);
    soon.add(1);
    expect(soon.inMs).toBe(2);
  });
});
