import { pgPool } from '@holdfast/kernel';
import {
  createTestDatabase,
  spawnTs,
  TcpProxy,
  type SpawnedProcess,
  type TestDatabase,
  waitFor,
} from '@holdfast/testing';
import { createQueue, type HoldfastQueue } from '../../src/core.js';
import { emptied, untilState } from './probe.js';
import { Attached, Detached, Stubborn } from './stop.jobs.js';

interface Left {
  readonly attempt: number;
  readonly kind: string;
  readonly n: number;
  readonly state: number;
}

describe('An application that is told to stop', () => {
  let db: TestDatabase;
  let queue: HoldfastQueue;
  const children: SpawnedProcess[] = [];

  const spawn = (env: Record<string, string> = {}): SpawnedProcess => {
    const child = spawnTs('libs/queue/test/module/stop.child.ts', {
      env: { DATABASE_URL: db.url, GRACE: '20s', ...env },
    });
    children.push(child);
    return child;
  };
  const ready = async (env: Record<string, string> = {}): Promise<SpawnedProcess> => {
    const child = spawn(env);
    await child.event('ready');
    return child;
  };
  const jobs = () =>
    db.adminQuery<Left>("SELECT kind, state, attempt, (payload->>'n')::int AS n FROM holdfast.job ORDER BY n, kind");
  const effects = () => db.adminQuery<{ kind: string; n: number }>('SELECT kind, n FROM effect ORDER BY n, kind');
  const names = (child: SpawnedProcess) => child.events.map(({ event }) => event);
  const finished = (count: number) =>
    waitFor(
      async () =>
        (await db.adminQuery<{ n: number }>('SELECT count(*)::int AS n FROM holdfast.job WHERE state = 2'))[0]!.n >=
        count,
      { deadlineMs: 60_000, what: `${count} jobs to be done` },
    );

  beforeAll(async () => {
    db = await createTestDatabase();
    await db.adminQuery('CREATE TABLE effect (n int, kind text)');
    await db.adminQuery('GRANT ALL ON effect TO PUBLIC');
    queue = createQueue({ database: pgPool(db.pool()) });
  });
  beforeEach(async () => {
    await emptied(db);
    await db.adminQuery('TRUNCATE effect');
  });
  afterEach(async () => {
    for (const child of children.splice(0)) if (!child.exited) await child.kill();
  });
  afterAll(async () => {
    await queue.close();
    await db.drop();
  });

  it('R17, K56: under load: no job is lost, none has its effect twice, attempts are given back, and it ends with 0', async () => {
    const many = Array.from({ length: 150 }, (_, n) => ({ ms: 20 + (n % 7) * 10, n }));
    const first = await ready({ GRACE: '2s', STAY: '1' });
    const stays = [
      Attached.request({ ms: 0, n: 1_000, stay: true }),
      Detached.request({ ms: 0, n: 1_001, stay: true }),
    ];
    await queue.jobs.enqueueMany(stays, { in: 'own' });
    await waitFor(() => names(first).filter((name) => name === 'stays').length === 2, { what: 'both to stay' });
    const requests = many.flatMap((one) => [Attached.request(one), Detached.request(one)]);
    await queue.jobs.enqueueMany(requests, { in: 'own' });
    await finished(40);
    first.signal('SIGTERM');
    expect(await first.exit()).toEqual({ code: 0, signal: null });
    const drained = await first.event('runner.drained');
    // The two that stay, and what a claim in flight brought.
    expect(drained).toMatchObject({ abandoned: 0 });
    expect(drained.givenBack).toBeGreaterThanOrEqual(2);
    const left = await jobs();
    expect(left.filter(({ state }) => state === 1)).toEqual([]);
    expect(left.filter(({ state }) => state === 0).length).toBeGreaterThan(2);
    // What was done before, and what ended within the grace, has spent one attempt; what was given back none.
    expect(left.filter(({ attempt, state }) => attempt !== (state === 2 ? 1 : 0))).toEqual([]);
    expect(await effects()).toHaveLength(left.filter(({ state }) => state === 2).length);
    const second = await ready();
    await finished(302);
    expect((await second.stop()).code).toBe(0);
    expect((await jobs()).filter(({ attempt, state }) => attempt !== 1 || state !== 2)).toEqual([]);
    expect(await effects()).toEqual((await jobs()).map(({ kind, n }) => ({ kind, n })));
  });

  it('K27, R17: the drain ends before the first provider is destroyed, and the last connection closes with the process', async () => {
    const child = await ready();
    await queue.jobs.enqueue(Attached, { ms: 300, n: 1 }, { in: 'own' });
    await child.event('job.started');
    child.signal('SIGTERM');
    expect(await child.exit()).toEqual({ code: 0, signal: null });
    const order = names(child).filter((name) => /job.completed|runner.drained|client destroyed/.test(name));
    expect(order).toEqual(['job.completed', 'runner.drained', 'client destroyed']);
    expect((await db.backends()).filter(({ application_name: name }) => name.startsWith('holdfast-'))).toEqual([]);
  });

  it('K56: a second signal, of either kind, changes nothing', async () => {
    const child = await ready();
    const { id } = await queue.jobs.enqueue(Detached, { ms: 1_500, n: 1 }, { in: 'own' });
    await child.event('job.started');
    child.signal('SIGTERM');
    await child.event('runner.draining');
    child.signal('SIGTERM');
    child.signal('SIGINT');
    expect(await child.exit()).toEqual({ code: 0, signal: null });
    await untilState(db, id, 'SUCCEEDED');
    expect(await effects()).toHaveLength(1);
    expect(names(child).filter((name) => name === 'client destroyed')).toHaveLength(1);
  });

  it('R17: a handler that never returns is left behind: its job is free, its process ends with 0', async () => {
    const child = await ready({ GRACE: '300ms' });
    const { id } = await queue.jobs.enqueue(Stubborn, {}, { in: 'own' });
    await child.event('stubborn');
    child.signal('SIGTERM');
    expect(await child.exit()).toEqual({ code: 0, signal: null });
    expect(await child.event('runner.drained')).toMatchObject({ abandoned: 1, givenBack: 1 });
    await untilState(db, id, 'PENDING');
    expect(await jobs()).toMatchObject([{ attempt: 0 }]);
  });

  it('K118: a signal in the middle of the start ends it with 0, and no job has begun', async () => {
    const child = spawn({ SLOW_START: '1' });
    await queue.jobs.enqueue(Attached, { ms: 0, n: 1 }, { in: 'own' });
    await child.event('starting');
    child.signal('SIGTERM');
    child.send({});
    expect(await child.exit()).toEqual({ code: 0, signal: null });
    expect(names(child)).toContain('client destroyed');
    const [job] = await jobs();
    expect(job!.attempt).toBe(job!.state === 2 ? 1 : 0);
    expect(await effects()).toHaveLength(job!.state === 2 ? 1 : 0);
  });

  it.each(['frozen', 'away'] as const)(
    'R17: with the database %s it ends within the grace and what the giving back is allowed',
    async (how) => {
      const proxy = await TcpProxy.open(db.url);
      const child = await ready({ DATABASE_URL: proxy.url, GRACE: '500ms', STAY: '1' });
      await queue.jobs.enqueueMany(
        [Attached.request({ ms: 0, n: 1, stay: true }), Detached.request({ ms: 0, n: 2, stay: true })],
        { in: 'own' },
      );
      await waitFor(() => names(child).filter((name) => name === 'stays').length === 2, { what: 'both to stay' });
      try {
        if (how === 'away') {
          proxy.refuse();
          proxy.sever();
        } else proxy.freeze();
        const signalledAt = performance.now();
        child.signal('SIGTERM');
        expect((await child.exit(60_000)).code).toBe(0);
        expect(await child.event('runner.drained')).toMatchObject({ abandoned: 0 });
        // 0.5 s of grace, 0.2 s to return, 5 s to give back, 2 s to close; the rest is the machine's.
        expect(performance.now() - signalledAt).toBeLessThan(20_000);
      } finally {
        await child.kill();
        await proxy.close();
      }
    },
  );
});
