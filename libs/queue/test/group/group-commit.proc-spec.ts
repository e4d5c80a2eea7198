import { spawnTs, waitFor, type SpawnedProcess, type TestDatabase } from '@holdfast/testing';
import { Grouped, type Steps } from '../runner.child.jobs.js';
import { emptied, RunnerStand, standDatabase } from '../runner.stand.js';

/** The lease of a job is 1.5 s. */
const OPTIONS = { leases: { attachedMarginMs: 900, boundMarginMs: 300, detachedMs: 1_500 }, slots: 8 };

describe('Groups of runs in processes that die', () => {
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
  const job = (steps: Steps, maxAttempts = 8) => stand.enqueue(Grouped, steps, { maxAttempts });
  const state = async (id: string) => (await stand.job(id)).state;
  const succeeded = (ids: readonly string[]) =>
    waitFor(
      async () => {
        for (const id of ids) if ((await state(id)) !== 'SUCCEEDED') return false;
        return true;
      },
      { deadlineMs: 40_000, what: 'every one of them' },
    );

  it('R1, R21: killed in mid-group: nothing of its members stays; after the lease each effect is there once', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const ids = await Promise.all(
      names.map((name) => job({ name, steps: name === 'c' ? [['write', 'wait'], ['write']] : [['write']] })),
    );
    const first = await worker();
    await first.event('waiting');
    await first.kill();
    expect(await stand.effects()).toEqual([]);
    await worker();
    await succeeded(ids);
    expect(await stand.effects()).toEqual(names);
  });

  it('Q12, R21: a member that kills its process ends as a dead letter; its neighbours are done, each once', async () => {
    const poison = await job({ name: 'poison', steps: [['write', 'die']] }, 2);
    const names = ['a', 'b', 'c', 'd', 'e'];
    const ids = await Promise.all(names.map((name) => job({ name, steps: [['write']] })));
    const dying = async () => {
      const child = await worker();
      const what = 'the process or the poison to end';
      await waitFor(async () => child.exited || (await state(poison)) === 'DEAD_LETTER', { deadlineMs: 30_000, what });
    };
    for (let life = 1; life <= 4 && (await state(poison)) !== 'DEAD_LETTER'; life += 1) await dying();
    expect(await state(poison)).toBe('DEAD_LETTER');
    if (children.every(({ exited }) => exited)) await worker();
    await succeeded(ids);
    expect(await stand.effects()).toEqual(names);
  });
});
