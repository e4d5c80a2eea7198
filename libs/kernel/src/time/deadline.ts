/** The longest delay a Node timer holds; a longer one fires at once (K55), so longer waits are made of several timers. */
const MAX_TIMER_MS = 2_147_483_647;

/** Timer is a running timer that can be cleared. */
export interface Timer {
  clear(): void;
}

/** startTimer calls `fn` once after `ms`, however long that is: beyond 2^31−1 ms the timer re-arms itself (K55). */
export function startTimer(ms: number, fn: () => void, options: { unref?: boolean } = {}): Timer {
  if (!Number.isFinite(ms)) throw new RangeError(`A timer cannot wait ${ms} ms.`);
  let handle: NodeJS.Timeout;
  const arm = (left: number) => {
    const step = Math.min(Math.max(left, 0), MAX_TIMER_MS);
    handle = setTimeout(() => (left > step ? arm(left - step) : fn()), step);
    if (options.unref) handle.unref();
  };
  arm(ms);
  return { clear: () => clearTimeout(handle) };
}

/**
 * withDeadline answers what the promise answers, or rejects with `onTimeout()` after `ms`.
 *
 * The promise itself goes on; its late rejection is swallowed. Use it where the work behind it is ended by `onTimeout` (a socket destroyed).
 */
export function withDeadline<T>(promise: Promise<T>, ms: number, onTimeout: () => Error): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = startTimer(ms, () => reject(onTimeout()));
    promise.then(resolve, reject).finally(() => timer.clear());
  });
}

/** pause resolves after `ms`, or at once when the signal aborts. It never rejects. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      timer.clear();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = startTimer(ms, done);
    signal.addEventListener('abort', done, { once: true });
  });
}
