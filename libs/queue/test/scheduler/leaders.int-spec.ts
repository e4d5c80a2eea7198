import { TcpProxy, waitFor } from '@holdfast/testing';
import { defineJob } from '../../src/domain/definition.js';
import { type } from '../../src/domain/payload.schema.js';
import { SchedulerStand, type TestScheduler } from './scheduler.stand.js';

const DAY = '1d';
const Send = defineJob('mail.send', { payload: type<object>() });

/** The deputies of a test do nothing but lead. */
describe('Schedulers of several processes', () => {
  let stand: SchedulerStand;

  beforeAll(async () => (stand = await SchedulerStand.open({ leadership: 'advisory-lock', tickMs: 1_000 })));
  afterEach(() => stand.end());
  afterAll(() => stand.close());

  const killLeader = () =>
    stand.db.terminateBackends(`application_name = 'holdfast-leader' AND EXISTS (
    SELECT FROM pg_locks l WHERE l.pid = pg_stat_activity.pid AND l.locktype = 'advisory' AND l.granted)`);
  const insertJob = (kind: string, columns = '', values = '') =>
    stand.db.adminQuery(`INSERT INTO holdfast.job (kind, payload${columns}) VALUES ($1, '{}'${values})`, [kind]);
  const started = (test: TestScheduler, duty: string) => test.all('duty.started', ({ name }) => name === duty).length;

  it('S3, L2: every outlives a change of leader: a duty that ran is not run again, one that is due runs in the successor', async () => {
    const duties = [
      { every: DAY, name: 'test.daily', run: () => undefined },
      { every: '300ms', name: 'test.often', run: () => undefined },
    ];
    const first = stand.scheduler({}, ...duties);
    await first.scheduler.start();
    await first.seen('duty.done', ({ name }) => name === 'test.daily');
    const second = stand.scheduler({}, ...duties);
    await second.scheduler.start();
    await second.seen('scheduler.tick');
    expect(second.scheduler.isLeader).toBe(false);
    await first.close();
    await second.seen('duty.done', ({ name }) => name === 'test.often', 3);
    expect(started(second, 'test.daily')).toBe(0);
    expect((await second.scheduler.lastRuns()).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['queue.depth', 'test.daily', 'test.often']),
    );
  });

  it('S3: a duty never runs twice at once: one whose leader vanished is due again when its deadline is over', async () => {
    let inside = 0;
    let most = 0;
    const duty = {
      deadline: '1500ms',
      every: DAY,
      name: 'test.long',
      run: async ({ signal }: { signal: AbortSignal }) => {
        most = Math.max(most, ++inside);
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        inside--;
      },
    };
    const tests = [stand.scheduler({ stopWaitMs: 100 }, duty), stand.scheduler({ stopWaitMs: 100 }, duty)];
    for (const { scheduler } of tests) await scheduler.start();
    const begun = await Promise.race(tests.map(async (test) => (await test.seen('duty.started', isLong)) && test));
    await killLeader();
    // Its end cannot be written down any more: nothing of it commits without leadership (L3).
    expect(await begun.seen('duty.unrecorded', isLong)).toBeDefined();
    await waitFor(() => tests.reduce((sum, test) => sum + started(test, 'test.long'), 0) === 2, {
      what: 'the second run',
    });
    const rows = await stand.db.adminQuery<{ after_ms: number }>(
      `SELECT (extract(epoch FROM clock_timestamp() - started_at) * 1000)::float8 AS after_ms FROM holdfast.leader_duty WHERE name = 'test.long'`,
    );
    expect(rows).toHaveLength(1);
    expect(most).toBe(1);

    function isLong({ name }: { name: string }): boolean {
      return name === 'test.long';
    }
  });

  it('S2: only the leader reports depth, of every known kind at zero too; a former leader clears its gauges', async () => {
    await insertJob('mail.send');
    await insertJob('mail.send', ', due_at', ", now() + interval '1 hour'");
    await insertJob('other.kind');
    await stand.db.adminQuery(
      `INSERT INTO holdfast.runner_presence (id, owner, kinds) VALUES (gen_random_uuid(), 'elsewhere', '{report.render}')`,
    );
    const options = { depthMs: 200, kinds: [Send.kind, 'mail.later'] };
    const tests = [stand.scheduler(options), stand.scheduler(options)] as const;
    await tests[0].scheduler.start();
    const told = await tests[0].seen('queue.depth');
    await tests[1].scheduler.start();
    const due = (kinds: readonly { due: number; kind: string }[]) =>
      Object.fromEntries(kinds.map(({ due: count, kind }) => [kind, count]));
    expect(due(told.kinds)).toEqual({ 'mail.later': 0, 'mail.send': 1, 'other.kind': 1, 'report.render': 0 });
    expect(told.kinds.find(({ kind }) => kind === 'mail.send')!.oldestDueAgeMs).toBeGreaterThanOrEqual(0);
    // A kind that was named is named at zero when its jobs are gone.
    await stand.db.adminQuery('DELETE FROM holdfast.job');
    await tests[0].seen('queue.depth', ({ kinds }) => due(kinds)['other.kind'] === 0);
    await tests[1].seen('scheduler.tick');
    expect(tests[1].all('queue.depth')).toEqual([]);

    await killLeader();
    await tests[0].seen('leader.lost');
    const [lost, cleared] = [
      tests[0].events.findIndex(({ type }) => type === 'leader.lost'),
      tests[0].events.findIndex(({ type }) => type === 'queue.depth_cleared'),
    ];
    expect(cleared).toBeGreaterThan(lost);
    const leader = await Promise.race(
      tests.map(async (test, at) => (await test.seen('leader.elected', undefined, 2 - at)) && test),
    );
    const before = leader === tests[0] ? cleared : -1;
    await leader.seen('queue.depth', (event) => leader.events.indexOf(event) > before);
    await leader.scheduler.stop();
    expect(leader.events.map(({ type }) => type).lastIndexOf('queue.depth_cleared')).toBeGreaterThan(
      leader.events.map(({ type }) => type).lastIndexOf('queue.depth'),
    );
  });

  it('S6: the leader reports live jobs of kinds that no process handles, once, and when somebody handles them', async () => {
    await insertJob('mail.send');
    await insertJob('gone.kind', ', due_at', ", now() + interval '1 hour'");
    await stand.db.adminQuery(
      `INSERT INTO holdfast.runner_presence (id, owner, kinds, seen_at) VALUES
        (gen_random_uuid(), 'alive', '{mail.send,mail.later}', now()), (gen_random_uuid(), 'vanished', '{gone.kind}', now() - interval '2 minutes'),
        (gen_random_uuid(), 'long gone', '{gone.kind}', now() - interval '1 day')`,
    );
    const test = stand.scheduler({ unhandledMs: 100 });
    await test.scheduler.start();
    expect(await test.seen('kinds.unhandled')).toMatchObject({ kinds: ['gone.kind'] });
    await test.seen('duty.done', ({ name }) => name === 'queue.unhandled_kinds', 5);
    expect(test.all('kinds.unhandled')).toHaveLength(1);
    expect(await stand.db.adminQuery(`SELECT owner FROM holdfast.runner_presence ORDER BY owner`)).toEqual([
      { owner: 'alive' },
      { owner: 'vanished' },
    ]);
    await stand.db.adminQuery(`UPDATE holdfast.runner_presence SET seen_at = now() WHERE owner = 'vanished'`);
    expect(await test.seen('kinds.unhandled', undefined, 2)).toMatchObject({ kinds: [] });
  });

  it('L2: a leader whose network freezes starts nothing more, and its successor goes on', async () => {
    const proxy = await TcpProxy.open(stand.db.url);
    const duty = { every: '150ms', name: 'test.often', run: () => undefined };
    const frozen = stand.scheduler({ url: proxy.url }, duty);
    await frozen.scheduler.start();
    await frozen.seen('duty.done', ({ name }) => name === 'test.often', 2);
    const other = stand.scheduler({}, duty);
    await other.scheduler.start();
    await other.seen('scheduler.tick');
    proxy.freeze('both');
    await frozen.seen('leader.lost');
    const count = started(frozen, 'test.often');
    await other.seen('duty.done', ({ name }) => name === 'test.often', 3);
    expect(frozen.scheduler.isLeader).toBe(false);
    expect(started(frozen, 'test.often')).toBe(count);
    expect(await frozen.seen('queue.depth_cleared')).toBeDefined();
    await proxy.close();
  });

  it('S1, R18: with the database away the scheduler lives: it tells, waits longer each time, a tick at most, and leads again', async () => {
    const proxy = await TcpProxy.open(stand.db.url);
    const test = stand.scheduler({ url: proxy.url });
    await test.scheduler.start();
    await test.seen('leader.elected');
    proxy.refuse();
    proxy.sever();
    const failed = await test.seen('scheduler.failed', ({ failures }) => failures === 3);
    expect(failed.delayMs).toBeLessThanOrEqual(1_000);
    expect(test.scheduler.vitals.lastError).toBeDefined();
    const { lastStepAt, lastTickAt } = test.scheduler.vitals;
    expect(lastStepAt).toBeGreaterThan(lastTickAt!);
    proxy.pass();
    await test.seen('scheduler.recovered');
    await test.seen('leader.elected', undefined, 2);
    await waitFor(() => test.scheduler.vitals.lastTickAt! > lastTickAt!, { what: 'a tick that went well' });
    expect(test.scheduler.vitals).toMatchObject({ isLeader: true, lastError: undefined, tickMs: 1_000 });
    await test.close();
    await proxy.close();
  });

  it('H1: a follower sees that somebody leads, by the last start of a duty', async () => {
    const leader = stand.scheduler();
    await leader.scheduler.start();
    await leader.seen('duty.started');
    const follower = stand.scheduler();
    await follower.scheduler.start();
    await follower.seen('scheduler.tick');
    const { isLeader, leaderSeenAt, startedAt } = follower.scheduler.vitals;
    expect({ isLeader, seen: leaderSeenAt! <= performance.now(), started: startedAt! <= performance.now() }).toEqual({
      isLeader: false,
      seen: true,
      started: true,
    });
  });

  it('K107: a second scheduler on one Leadership is refused', async () => {
    const test = stand.scheduler();
    await test.scheduler.start();
    expect(() => test.leadership.candidate('holdfast.scheduler', { tickMs: 1_000 })).toThrow(
      expect.objectContaining({ code: 'queue.duplicate_candidate' }),
    );
    await test.seen('leader.elected');
    await test.scheduler.stop();
    await test.scheduler.start();
    await test.seen('leader.elected', undefined, 2);
  });

  it('S3: each has its own timer, and nothing of a scheduler that was stopped goes on', async () => {
    const test = stand.scheduler();
    for (let life = 1; life <= 3; life++) {
      await test.scheduler.start();
      await test.seen('leader.elected', undefined, life);
      await test.scheduler.stop();
    }
    const locks = await stand.db.adminQuery(
      `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    expect(locks).toEqual([]);
    expect(test.scheduler.vitals).toMatchObject({ isLeader: false, startedAt: undefined });
  });
});
