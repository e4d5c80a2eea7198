import { spawnTs, waitFor, type SpawnedProcess, type TestDatabase } from '@holdfast/testing';
import type { RunnerOptions } from '../src/runner/runner.options.js';
import { Doomed, Released, type Steps } from './runner.child.jobs.js';
import { emptied, RunnerStand, standDatabase } from './runner.stand.js';

/** The lease of Doomed is 1.5 s. */
const OPTIONS: RunnerOptions = { leases: { attachedMarginMs: 900, boundMarginMs: 300, detachedMs: 1_500 } };

describe('What follows on the end of a job, in processes that die', () => {
  let db: TestDatabase;
  let stand: RunnerStand;
  let children: SpawnedProcess[] = [];

  beforeAll(async () => {
    db = await standDatabase();
    stand = await RunnerStand.open(db);
  });
  beforeEach(() => emptied(db));
  afterEach(async () => {
    for (const child of children) if (!child.exited) await child.kill();
    children = [];
  });
  afterAll(async () => {
    await stand.close();
    await db.drop();
  });

  const worker = async (): Promise<SpawnedProcess> => {
    const env = { DATABASE_URL: db.url, RUNNER_OPTIONS: JSON.stringify(OPTIONS) };
    const child = spawnTs('libs/queue/test/runner.child.ts', { env });
    children.push(child);
    await child.event('ready');
    return child;
  };
  const released = async () =>
    (
      await db.adminQuery<{ payload: { jobId: string } }>('SELECT payload FROM holdfast.job WHERE kind = $1', [
        Released.kind,
      ])
    ).map(({ payload }) => payload);
  const untilDead = (id: string) =>
    waitFor(async () => (await stand.job(id)).state === 'DEAD_LETTER', { deadlineMs: 30_000, what: `job ${id}` });

  it('R14, Q12: killed in its last attempt, a job leaves one follow-up, by whichever process reaps it', async () => {
    const steps: Steps = { name: 'doomed', steps: [['die']] };
    const first = await worker();
    const id = await stand.enqueue(Doomed, steps, { maxAttempts: 1 });
    await first.exit();
    expect(await released()).toEqual([]);
    await Promise.all([worker(), worker()]);
    await untilDead(id);
    expect(await released()).toEqual([
      {
        code: 'queue.attempts_exhausted',
        jobId: id,
        kind: Doomed.kind,
        payload: steps,
        payloadVersion: 1,
        state: 'DEAD_LETTER',
      },
    ]);
  });

  it('R14: killed before its end is recorded, and after it: one follow-up at the end, none before', async () => {
    const first = await worker();
    const id = await stand.enqueue(Doomed, { name: 'doomed', steps: [['wait'], ['die']] }, { maxAttempts: 2 });
    await first.event('waiting');
    await first.kill();
    const second = await worker();
    await second.exit();
    expect(await released()).toEqual([]);
    await worker();
    await untilDead(id);
    await Promise.all(children.filter(({ exited }) => !exited).map((child) => child.kill()));
    expect(await released()).toMatchObject([{ jobId: id }]);
  });
});
