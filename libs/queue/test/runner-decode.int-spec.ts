import type { TestDatabase } from '@holdfast/testing';
import { defineJob } from '../src/domain/definition.js';
import { type } from '../src/domain/payload.schema.js';
import { emptied, Gate, RunnerStand, standDatabase, unhandledRejections } from './runner.stand.js';

const gate = { reached: new Gate() };

/** A codec whose key store does not answer. */
const codec = {
  decode: () => {
    gate.reached.open();
    return new Promise<never>(() => undefined);
  },
  encode: (payload: object) => payload as Record<string, never>,
};
const options = { backoff: { delays: ['1h'] }, codec, payload: type<object>() };
const Hasty = defineJob('test.hasty', { ...options, timeout: '200ms' });
const Patient = defineJob('test.patient', { ...options, timeout: '30s' });

describe.each(['attached', 'detached'] as const)('A payload that is never decoded (%s)', (mode) => {
  let db: TestDatabase;
  let stand: RunnerStand;
  const unhandled = unhandledRejections();

  beforeAll(async () => (db = await standDatabase()));
  beforeEach(async () => {
    await emptied(db);
    gate.reached = new Gate();
    stand = await RunnerStand.open(db);
    for (const definition of [Hasty, Patient]) stand[mode](definition, () => Promise.resolve());
  });
  afterEach(async () => {
    await stand.close();
    expect(unhandled).toEqual([]);
  });
  afterAll(() => db.drop());

  it('R6: is over at the timeout of the attempt, and its slot is free', async () => {
    const runner = await stand.start({ slots: 1 });
    const id = await stand.enqueue(Hasty, {});
    runner.wake();
    expect(await stand.seenOf('job.retried', id)).toMatchObject({ code: 'queue.timed_out' });
    expect(await stand.job(id)).toMatchObject({ attempt: 1, state: 'PENDING' });
    await stand.untilIdle();
    expect((await runner.drain()).abandoned).toBe(0);
  });

  it('R17: does not hold up a shutdown, which gives the job back', async () => {
    const runner = await stand.start({ graceMs: 50, slots: 1 });
    const id = await stand.enqueue(Patient, {});
    runner.wake();
    await gate.reached.opened;
    expect(await runner.drain()).toEqual({ abandoned: 0, givenBack: 1 });
    expect(await stand.job(id)).toMatchObject({ attempt: 0, state: 'PENDING' });
  });
});
