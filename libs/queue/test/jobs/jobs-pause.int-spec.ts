import { randomUUID } from 'node:crypto';
import { ControlConnections } from '@holdfast/kernel';
import { waitFor } from '@holdfast/testing';
import { defineJob } from '../../src/domain/definition.js';
import { type } from '../../src/domain/payload.schema.js';
import { judgeRunner } from '../../src/health/runner.judgement.js';
import { PostgresJobs } from '../../src/postgres/postgres.jobs.js';
import { Gate, RunnerStand, standDatabase } from '../runner.stand.js';
import { SCHEMA } from '../store.harness.js';

const Send = defineJob('mail.send', { payload: type<object>(), timeout: '20s' });
const Sort = defineJob('mail.sort', { payload: type<object>() });
const KIND = Send.kind;
const POLL_MS = 50;

describe('A paused kind', () => {
  let stands: RunnerStand[];
  let jobs: PostgresJobs;
  let db: Awaited<ReturnType<typeof standDatabase>>;

  beforeEach(async () => {
    db = await standDatabase();
    stands = [await RunnerStand.open(db), await RunnerStand.open(db)];
    const connections = new ControlConnections(
      { connectionString: db.url },
      { applicationName: 'operator', deadlineMs: 20_000, max: 2 },
    );
    jobs = new PostgresJobs(connections, SCHEMA);
    closing = () => connections.close();
  });
  let closing: () => Promise<void>;
  afterEach(async () => {
    for (const stand of stands) await stand.close();
    await closing();
    await db.drop();
  });

  const looks = (stand: RunnerStand, count: number) =>
    Array.from({ length: count }).reduce<Promise<unknown>>(
      (before) => before.then(() => stand.seen('claim.answered')),
      Promise.resolve(stand.events.splice(0)),
    );

  it('A1: is claimed by no process from its next poll on; what runs goes on, enqueues, intake and depth go on, other kinds run; until it is resumed', async () => {
    const gate = new Gate();
    const ran: string[] = [];
    for (const stand of stands)
      stand
        .attached(Send, async (job) => {
          if (!ran.includes('first')) {
            ran.push('first');
            return gate.pass();
          }
          ran.push(job.id);
        })
        .attached(Sort, () => Promise.resolve());
    const [one, two] = stands as [RunnerStand, RunnerStand];
    const runners = [await one.start({ pollMs: POLL_MS }), await two.start({ pollMs: POLL_MS })];
    const first = await one.enqueue(Send, {});
    await gate.reached;

    expect(await jobs.pauseKind(KIND)).toBe(true);
    expect(await jobs.pauseKind(KIND)).toBe(false);
    for (const stand of stands) await stand.seen('kind.paused', ({ kind }) => kind === KIND);
    for (const runner of runners) expect(runner.vitals.paused).toEqual([KIND]);

    const second = await one.enqueue(Send, {});
    const keyed = await one.enqueue(Send, {}, { dedupeKey: 'k' });
    const sorted = await two.enqueue(Sort, {});
    await waitFor(async () => (await jobs.find(sorted))!.state === 'SUCCEEDED', { what: 'the other kind to run' });
    for (const stand of stands) await looks(stand, 4);
    for (const id of [second, keyed]) expect((await jobs.find(id))!).toMatchObject({ attempt: 0, state: 'PENDING' });
    expect(await one.store.depth([])).toMatchObject([{ due: 2, kind: KIND }]);
    expect(await jobs.pausedKinds()).toMatchObject([{ kind: KIND, pausedAt: expect.any(Date) as Date }]);

    gate.open();
    await waitFor(async () => (await jobs.find(first))!.state === 'SUCCEEDED', { what: 'the running job to end' });
    expect(ran).toEqual(['first']);

    expect(await jobs.resumeKind(KIND)).toBe(true);
    expect(await jobs.resumeKind(KIND)).toBe(false);
    await waitFor(async () => (await jobs.find(keyed))!.state === 'SUCCEEDED', { what: 'the paused ones to run' });
    await waitFor(async () => (await jobs.find(second))!.state === 'SUCCEEDED', { what: 'the paused ones to run' });
    for (const stand of stands) await stand.seen('kind.resumed', ({ kind }) => kind === KIND);
    expect(await jobs.pausedKinds()).toEqual([]);
  });

  it('A1: a process that starts meanwhile claims none of it, and one that knows no such kind may pause it', async () => {
    const [one] = stands as [RunnerStand];
    one.attached(Send, () => Promise.resolve());
    await jobs.pauseKind(KIND);
    await jobs.pauseKind('nobody.knows');
    const id = await one.enqueue(Send, {});
    await one.start({ pollMs: POLL_MS });
    await looks(one, 3);
    expect((await jobs.find(id))!).toMatchObject({ attempt: 0, state: 'PENDING' });
    expect((await jobs.pausedKinds()).map(({ kind }) => kind)).toEqual([KIND, 'nobody.knows']);
    await expect(jobs.pauseKind('Not A Kind')).rejects.toMatchObject({ code: 'queue.filter_refused', field: 'kind' });
    await expect(jobs.resumeKind('')).rejects.toMatchObject({ code: 'queue.filter_refused', field: 'kind' });
  });

  it('P8: costs an idle process no statement, due as its jobs are', async () => {
    const [one] = stands as [RunnerStand];
    one.attached(Send, () => Promise.resolve());
    await jobs.pauseKind(KIND);
    await one.enqueue(Send, {});
    await one.start({ pollMs: POLL_MS });
    await looks(one, 2);
    const sent = jest.spyOn(ControlConnections.prototype, 'run');
    await looks(one, 5);
    const names = sent.mock.calls.map(([statement, schema, params]) => statement.bind(schema, params).name);
    sent.mockRestore();
    expect(names.length).toBeGreaterThanOrEqual(4);
    expect([...new Set(names.map((name) => name.replace(/-[0-9a-f]{8}$/, '')))]).toEqual(['holdfast-find-work']);
  });

  it('A1, Q12: its leases that ran out are reaped, and its suspects keep nobody waiting', async () => {
    const [one] = stands as [RunnerStand];
    const gate = new Gate();
    one.attached(Send, () => Promise.resolve()).attached(Sort, () => gate.pass());
    const id = await one.enqueue(Send, {});
    await one.store.claim({
      fullLook: true,
      kinds: [{ kind: KIND, leaseMs: 1, limit: 1 }],
      limit: 1,
      owner: 'gone',
      token: randomUUID(),
    });
    await jobs.pauseKind(KIND);
    await one.start({ pollMs: POLL_MS });
    await one.seen('reap.done', ({ result }) => result.returned.some((job) => job.id === id));
    const other = await one.enqueue(Sort, {});
    await gate.reached;
    // While something runs here, a suspect that is due would keep this process from claiming.
    await looks(one, 6);
    expect(one.events.filter((event) => event.type === 'suspects.awaited')).toEqual([]);
    expect((await jobs.find(id))!).toMatchObject({ attempt: 1, state: 'PENDING' });
    gate.open();
    await one.seenOf('job.completed', other);
    await jobs.resumeKind(KIND);
    await one.seenOf('job.completed', id);
  });

  it('H1: is shown by the health of a runner, and makes nobody ill, however long its jobs have been due', async () => {
    const [one] = stands as [RunnerStand];
    one.attached(Send, () => Promise.resolve());
    await jobs.pauseKind(KIND);
    const runner = await one.start({ pollMs: POLL_MS });
    await one.seen('kind.paused');
    const finding = judgeRunner({
      backlogMs: 1,
      depth: [{ due: 5, kind: KIND, oldestDueAgeMs: 3_600_000 }],
      now: performance.now(),
      vitals: runner.vitals,
    });
    expect(finding).toMatchObject({ details: { paused: [KIND] }, status: 'up' });
  });
});
