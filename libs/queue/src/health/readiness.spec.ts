import { readinessOf } from './readiness.js';

describe('readinessOf', () => {
  const never = () => {
    throw new Error('nobody asked');
  };
  const of = (checks: Parameters<typeof readinessOf>[0], onError: (key: string, error: unknown) => void = never) =>
    readinessOf(checks, { onError, withinMs: 900 });

  it('H1: each status stands under its own key; degraded is no error', async () => {
    expect(await of({ a: () => ({ a: { status: 'up' } }) })).toMatchObject({ error: {}, status: 'ok' });
    const degraded = { a: { message: 'old', status: 'degraded' as const } };
    expect(await of({ a: () => degraded, b: () => ({ b: { status: 'up' } }) })).toEqual({
      details: { ...degraded, b: { status: 'up' } },
      error: {},
      info: { ...degraded, b: { status: 'up' } },
      status: 'degraded',
    });
    const down = { c: { status: 'down' as const } };
    expect(await of({ a: () => degraded, c: () => Promise.resolve(down) })).toEqual({
      details: { ...degraded, ...down },
      error: down,
      info: degraded,
      status: 'error',
    });
  });

  it('H1: a check that throws is down and its error goes to the log alone', async () => {
    const told: unknown[] = [];
    const error = new Error('secret-host');
    const checks = { bad: () => { throw error; }, worse: () => Promise.reject(error) }; // prettier-ignore
    const { details, status } = await of(checks, (key, thrown) => told.push([key, thrown]));
    const message = 'The check itself failed; the log says how.';
    expect(details).toEqual({ bad: { message, status: 'down' }, worse: { message, status: 'down' } });
    expect(status).toBe('error');
    expect(told).toEqual([['bad', error], ['worse', error]]); // prettier-ignore
  });

  it('H1: a check that never answers is down in time, holds up no other, and leaves no timer behind', async () => {
    jest.useFakeTimers();
    const answered = of({ never: () => new Promise(() => undefined), well: () => ({ well: { status: 'up' } }) });
    await jest.advanceTimersByTimeAsync(900);
    expect((await answered).details).toEqual({
      never: { message: 'No answer within 900 ms.', status: 'down' },
      well: { status: 'up' },
    });
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });
});
