import { waitFor, type TestDatabase } from '@holdfast/testing';
import { defineJob } from '../src/domain/definition.js';
import { type } from '../src/domain/payload.schema.js';
import type { ClaimedJob } from '../src/ports/job-store.js';
import type { PostgresJobStore } from '../src/postgres/postgres.job-store.js';
import { emptied, Gate, RunnerStand, standDatabase, unhandledRejections } from './runner.stand.js';

const Write = defineJob('test.write', { payload: type<{ text: string }>() });

/** A store that answers something that is no list of jobs, as a faulty adapter would: the loop fails outside every stage. */
function answeringNonsense(until: { over: boolean }): (store: PostgresJobStore) => PostgresJobStore {
  return (store) => {
    const claim = store.claim.bind(store);
    store.claim = (order) => (until.over ? claim(order) : Promise.resolve(null as unknown as ClaimedJob[]));
    return store;
  };
}

describe('the vital signs of a runner', () => {
  let db: TestDatabase;
  const unhandled = unhandledRejections();

  beforeAll(async () => (db = await standDatabase()));
  beforeEach(() => emptied(db));
  afterEach(() => expect(unhandled).toEqual([]));
  afterAll(() => db.drop());

  it('H1: they follow its life: idle, running, draining, stopped, and running again', async () => {
    const stand = await RunnerStand.open(db);
    const gate = new Gate();
    stand.detached(Write, async () => {
      await gate.pass();
    });
    const runner = stand.runner({ slots: 3 });
    expect(runner.vitals).toMatchObject({ kinds: [], running: 0, slots: 3, startedAt: undefined, state: 'idle' });
    const id = await stand.enqueue(Write, { text: 'a' });
    await runner.start();
    await gate.reached;
    await waitFor(() => runner.vitals.lastPassAt !== undefined, { what: 'a pass to end' });
    const { lastPassAt, lastStepAt, startedAt, ...others } = runner.vitals;
    expect(others).toEqual({
      kinds: ['test.write'],
      paused: [],
      pollMs: 60_000,
      running: 1,
      runningByKind: { 'test.write': 1 },
      slots: 3,
      state: 'running',
      troubles: [],
    });
    expect(startedAt).toBeLessThanOrEqual(lastPassAt!);
    expect(lastStepAt).toBeLessThanOrEqual(performance.now());
    const stopped = runner.stop();
    await stand.seen('runner.draining');
    expect(runner.vitals).toMatchObject({ running: 1, state: 'draining' });
    gate.open();
    await stopped;
    expect(runner.vitals).toMatchObject({ running: 0, state: 'stopped' });
    expect(await stand.job(id)).toMatchObject({ state: 'SUCCEEDED' });
    await runner.start();
    expect(runner.vitals).toMatchObject({ state: 'running' });
    await stand.close();
  });

  it('H1: a stage that fails is named with its failures, and forgotten once it works again', async () => {
    let failing = true;
    const stand = await RunnerStand.open(db, {
      store: (store) => {
        const intake = store.intake.bind(store);
        store.intake = (limit) => (failing ? Promise.reject(new Error('no intake')) : intake(limit));
        return store;
      },
    });
    stand.attached(Write, () => Promise.resolve());
    const runner = await stand.start({ pollMs: 50 });
    await stand.seen('loop.failed', ({ failures }) => failures === 2);
    const { lastPassAt, startedAt, troubles } = runner.vitals;
    expect(troubles).toEqual([
      { error: new Error('no intake'), failures: 2, since: expect.any(Number) as number, stage: 'intake' },
    ]);
    expect(troubles[0]!.since).toBeGreaterThanOrEqual(startedAt!);
    expect(lastPassAt).toBeUndefined();
    failing = false;
    await stand.seen('loop.recovered');
    await waitFor(() => runner.vitals.lastPassAt !== undefined, { what: 'a pass to end' });
    expect(runner.vitals.troubles).toEqual([]);
    await stand.close();
  });

  it('R18, K50: an error outside every stage does not end the loop: it is told, shows in the vital signs, and work goes on', async () => {
    const until = { over: false };
    const stand = await RunnerStand.open(db, { store: answeringNonsense(until) });
    stand.attached(Write, () => Promise.resolve());
    const runner = await stand.start({ pollMs: 50 });
    const failed = await stand.seen('loop.failed', ({ failures }) => failures === 3);
    expect(failed).toMatchObject({ error: expect.any(TypeError) as Error, stage: 'pass' });
    expect(runner.vitals.troubles).toMatchObject([{ stage: 'pass' }]);
    until.over = true;
    await stand.seenOf('job.completed', await stand.enqueue(Write, { text: 'after' }), 30_000);
    expect(runner.vitals.troubles).toEqual([]);
    await stand.close();
  });

  it('R18: an error outside every stage holds up no stop', async () => {
    const stand = await RunnerStand.open(db, { store: answeringNonsense({ over: false }) });
    stand.attached(Write, () => Promise.resolve());
    const runner = await stand.start({ pollMs: 50 });
    await stand.seen('loop.failed', ({ failures }) => failures === 2);
    await runner.stop();
    expect(runner.vitals).toMatchObject({ state: 'stopped' });
    await stand.close();
  });
});
