import type { ClaimedJob, LeasedProgress } from '../ports/job-store.js';
import type { QueueEvent } from '../ports/queue.events.js';
import { MemoryJobStore } from '../memory/memory.job-store.js';
import type { Lease } from '../domain/lease.js';
import type { KindPlan } from './kind.plan.js';
import { ProgressKeeper } from './progress.keeper.js';
import { Run } from './run.js';
import { StageGuard } from './stage.guard.js';

const plan = { leaseMs: 60_000, timeoutMs: 30_000 } as KindPlan;
let ids = 0;
const newRun = () => {
  const id = String((ids += 1));
  const claimed = { attempt: 1, id, kind: 'a.b', lease: { jobId: id, token: `t${id}` }, tenantId: null };
  return new Run(claimed as ClaimedJob, plan, performance.now());
};

/** A store that tells what it was asked to write, and does what a test wants it to. */
class Store extends MemoryJobStore {
  readonly asked: string[][] = [];
  answer: (reports: readonly LeasedProgress[]) => Promise<Lease[]> = (reports) =>
    Promise.resolve(reports.map(({ lease }) => lease));

  override report(reports: readonly LeasedProgress[]): Promise<Lease[]> {
    this.asked.push(reports.map(({ fraction, lease }) => `${lease.token} ${fraction}`));
    return this.answer(reports);
  }
}

describe('ProgressKeeper', () => {
  let events: QueueEvent[];
  let keeper: ProgressKeeper;
  let store: Store;
  const advance = (ms: number) => jest.advanceTimersByTimeAsync(ms);

  beforeEach(() => {
    jest.useFakeTimers();
    ids = 0;
    events = [];
    store = new Store();
    keeper = new ProgressKeeper(store, new StageGuard({ report: (event) => void events.push(event) }));
  });
  afterEach(() => {
    keeper.stop();
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('R15: the first report is written at once, later ones together, once a second, each run by its newest', async () => {
    const [one, two] = [newRun(), newRun()];
    keeper.note(one, 0.1);
    await advance(0);
    for (const fraction of [0.2, 0.3]) keeper.note(one, fraction);
    keeper.note(two, 0.5);
    await advance(999);
    expect(store.asked).toEqual([['t1 0.1']]);
    await advance(1);
    expect(store.asked).toEqual([['t1 0.1'], ['t1 0.3', 't2 0.5']]);
  });

  it('R15: 10,000 reports of a second are two statements, and nothing is written that is written already', async () => {
    const run = newRun();
    for (let n = 0; n < 10_000; n += 1) {
      keeper.note(run, n / 10_000);
      if (n % 100 === 0) await advance(9);
    }
    await advance(2_000);
    expect(store.asked).toEqual([['t1 0'], ['t1 0.9999']]);
    keeper.note(run, 0.9999);
    await keeper.flush(run);
    await advance(2_000);
    expect(store.asked).toHaveLength(2);
  });

  it.each<[unknown, string[][]]>([
    [Infinity, [['t1 1']]],
    [1.5, [['t1 1']]],
    [-Infinity, [['t1 0']]],
    [-0.1, [['t1 0']]],
    [Number.NaN, []],
    ['0.5', []],
    [undefined, []],
    [null, []],
    [{ valueOf: () => 0.5 }, []],
  ])('R15: a report of %p is clamped, or is none', async (fraction, asked) => {
    keeper.note(newRun(), fraction);
    await advance(1_000);
    expect(store.asked).toEqual(asked);
  });

  it('R15: a flush writes the last report before its time, and waits for one under way with an older value', async () => {
    const run = newRun();
    let answer = () => undefined as void;
    store.answer = (reports) => new Promise((resolve) => (answer = () => resolve(reports.map(({ lease }) => lease))));
    keeper.note(run, 0.1);
    await advance(0);
    keeper.note(run, 1);
    const flushed = keeper.flush(run);
    await advance(0);
    expect(store.asked).toEqual([['t1 0.1']]);
    answer();
    await advance(0);
    expect(store.asked).toEqual([['t1 0.1'], ['t1 1']]);
    answer();
    await flushed;
    keeper.note(run, 1);
    await advance(1_000);
    expect(store.asked).toHaveLength(2);
  });

  it("R15: a flush waits for a second at most, and for no more than half of what is left of the run's time", async () => {
    const run = newRun();
    store.answer = () => new Promise(() => undefined);
    const flushIn = async (ms: number) => {
      keeper.note(run, Math.random());
      let flushed = false;
      const done = keeper.flush(run).then(() => (flushed = true));
      await advance(ms - 1);
      const before = flushed;
      await advance(1);
      await done;
      return before;
    };
    expect(await flushIn(1_000)).toBe(false);
    run.startTimeout();
    await advance(29_000);
    expect(await flushIn(500)).toBe(false);
    run.endTimeout();
  });

  it('R15: what fails is told, and tried again later with the newest value; meanwhile no run waits at its end', async () => {
    const [one, two] = [newRun(), newRun()];
    store.answer = () => Promise.reject(new Error('away'));
    keeper.note(one, 0.1);
    keeper.note(two, 0.1);
    await advance(0);
    expect(events).toMatchObject([{ type: 'loop.failed', failures: 1, stage: 'progress' }]);
    await keeper.flush(two);
    keeper.note(one, 0.2);
    store.answer = (reports) => Promise.resolve(reports.map(({ lease }) => lease));
    await advance(1_000);
    expect(store.asked).toEqual([['t1 0.1', 't2 0.1'], ['t1 0.2']]);
    expect(events.at(-1)).toMatchObject({ type: 'loop.recovered', stage: 'progress' });
  });

  it('R15: of a run that has lost its lease, or is settled, nothing is tried again', async () => {
    const run = newRun();
    store.answer = () => Promise.resolve([]);
    keeper.note(run, 0.1);
    await advance(5_000);
    expect(store.asked).toHaveLength(1);
    run.settled = true;
    keeper.note(run, 0.2);
    await advance(5_000);
    expect(store.asked).toHaveLength(1);
  });
});
