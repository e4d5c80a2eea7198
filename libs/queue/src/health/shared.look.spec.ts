import { SharedLook } from './shared.look.js';

describe('SharedLook', () => {
  let answers: { resolve(value: number): void; reject(error: Error): void }[];
  let deadlines: number[];
  const look = (withinMs: number) => {
    deadlines.push(withinMs);
    return new Promise<number>((resolve, reject) => answers.push({ reject, resolve }));
  };
  const advance = (ms: number) => jest.advanceTimersByTimeAsync(ms);

  beforeEach(() => {
    jest.useFakeTimers();
    answers = [];
    deadlines = [];
  });
  afterEach(() => {
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('K143: many who ask at once cause one look, and its answer is kept for a moment', async () => {
    const shared = new SharedLook({ freshMs: 1_000, look });
    const taken = [shared.take(500), shared.take(500), shared.take(500)];
    answers[0]!.resolve(7);
    expect(await Promise.all(taken)).toEqual(Array(3).fill({ type: 'found', value: 7 }));
    await advance(999);
    expect(await shared.take(500)).toEqual({ type: 'found', value: 7 });
    expect(deadlines).toEqual([500]);
    await advance(1);
    const next = shared.take(300);
    answers[1]!.resolve(8);
    expect(await next).toEqual({ type: 'found', value: 8 });
    expect(deadlines).toEqual([500, 300]);
  });

  it('H1: answers late in time, leaves no timer behind, and who asks next gets what the look found meanwhile', async () => {
    const shared = new SharedLook({ freshMs: 1_000, look });
    const late = shared.take(500);
    await advance(500);
    expect(await late).toEqual({ type: 'late' });
    expect(jest.getTimerCount()).toBe(0);
    const next = shared.take(500);
    await advance(100);
    answers[0]!.resolve(7);
    expect(await next).toEqual({ type: 'found', value: 7 });
    expect(deadlines).toEqual([500]);
  });

  it('H1: a failure is an answer too, kept a second at most; what was found before it is recent for as long as is asked', async () => {
    const shared = new SharedLook({ freshMs: 60_000, look });
    expect(shared.recent(Infinity)).toBeUndefined();
    const first = shared.take(500);
    answers[0]!.resolve(7);
    await first;
    await advance(60_000);
    const second = shared.take(500);
    const error = new Error('away');
    answers[1]!.reject(error);
    expect(await second).toEqual({ error, type: 'failed' });
    expect(shared.recent(60_000)).toBe(7);
    expect(shared.recent(59_999)).toBeUndefined();
    await advance(999);
    expect(await shared.take(500)).toEqual({ error, type: 'failed' });
    await advance(1);
    void shared.take(500);
    expect(answers).toHaveLength(3);
    answers[2]!.resolve(9);
    await advance(0);
  });

  it('H1: who waits longer than the look that is under way looks again when its time is up, and is not answered its failure', async () => {
    const shared = new SharedLook({ freshMs: 60_000, look });
    const short = shared.take(100);
    const long = shared.take(5_000);
    await advance(100);
    answers[0]!.reject(new Error('deadline'));
    expect(await short).toMatchObject({ type: 'late' });
    await advance(0);
    expect(deadlines).toEqual([100, 4_900]);
    answers[1]!.resolve(7);
    expect(await long).toEqual({ type: 'found', value: 7 });
  });

  it('H1: nor the failure that is kept of one; a failure that came at once is answered to all', async () => {
    const shared = new SharedLook({ freshMs: 60_000, look });
    const short = shared.take(100);
    await advance(100);
    answers[0]!.reject(new Error('deadline'));
    await short;
    await advance(0);
    const long = shared.take(5_000);
    expect(deadlines).toEqual([100, 5_000]);
    const longer = shared.take(9_000);
    const error = new Error('refused');
    answers[1]!.reject(error);
    expect(await Promise.all([long, longer, shared.take(60_000)])).toEqual(Array(3).fill({ error, type: 'failed' }));
    expect(answers).toHaveLength(2);
  });

  it('a look that took long is repeated seldom: it costs a twentieth of the time at most', async () => {
    const shared = new SharedLook({ freshMs: 1_000, look });
    const taken = shared.take(5_000);
    await advance(4_000);
    answers[0]!.resolve(7);
    await taken;
    await advance(79_000);
    await shared.take(500);
    expect(answers).toHaveLength(1);
    await advance(1_000);
    void shared.take(500);
    expect(answers).toHaveLength(2);
    answers[1]!.resolve(8);
    await advance(0);
  });
});
