import { pause, startTimer, withDeadline } from './deadline.js';

const DAY = 86_400_000;

describe('timers', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it.each([1, 1_500.5, 2 ** 31 - 1, 2 ** 31, 30 * DAY, 365 * DAY])(
    'K55: a timer of %d ms fires then, once, and not before',
    (ms) => {
      const fired = jest.fn();
      startTimer(ms, fired);
      jest.advanceTimersByTime(Math.floor(ms) - 1);
      expect(fired).not.toHaveBeenCalled();
      jest.advanceTimersByTime(2);
      expect(fired).toHaveBeenCalledTimes(1);
      jest.advanceTimersByTime(ms);
      expect(fired).toHaveBeenCalledTimes(1);
    },
  );

  it.each([0, -1, -(2 ** 40)])('K55: a timer of %d ms fires at the next turn', (ms) => {
    const fired = jest.fn();
    startTimer(ms, fired);
    expect(fired).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    expect(fired).toHaveBeenCalledTimes(1);
  });

  it.each([Number.NaN, Infinity, -Infinity])('K55: a timer of %d ms is refused', (ms) => {
    expect(() => startTimer(ms, () => undefined)).toThrow(RangeError);
  });

  it('K55: a timer of a year can be cleared in its third month', () => {
    const fired = jest.fn();
    const timer = startTimer(365 * DAY, fired);
    jest.advanceTimersByTime(80 * DAY);
    timer.clear();
    jest.advanceTimersByTime(365 * DAY);
    expect(fired).not.toHaveBeenCalled();
  });

  it('pause resolves in time, at once when aborted, and leaves nothing on the signal', async () => {
    const controller = new AbortController();
    const removed = jest.spyOn(controller.signal, 'removeEventListener');
    const inTime = pause(30 * DAY, controller.signal);
    jest.advanceTimersByTime(30 * DAY);
    await inTime;
    expect(removed).toHaveBeenCalledTimes(1);
    const cut = pause(30 * DAY, controller.signal);
    controller.abort();
    await cut;
    await pause(30 * DAY, controller.signal);
  });

  it('withDeadline answers what comes in time and clears its timer', async () => {
    await expect(withDeadline(Promise.resolve('answer'), 30 * DAY, () => new Error('late'))).resolves.toBe('answer');
    const own = new Error('its own');
    await expect(withDeadline(Promise.reject(own), 1_000, () => new Error('late'))).rejects.toBe(own);
  });

  it('withDeadline rejects what is late; what comes afterwards is swallowed', async () => {
    let fail!: (error: Error) => void;
    const never = new Promise<never>((_, reject) => (fail = reject));
    const late = new Error('late');
    const outcome = expect(withDeadline(never, 1_000, () => late)).rejects.toBe(late);
    jest.advanceTimersByTime(1_000);
    await outcome;
    fail(new Error('after the fact'));
  });
});
