import { createTestDatabase, type SpawnedProcess, TcpProxy, type TestDatabase, waitFor } from '@holdfast/testing';
import { LeaderProcesses } from './leader.processes.js';
import { leaderLocks } from './stand.js';

const TICK_MS = 2_000;
/** What this machine may add to a bound that the rules state in ticks. */
const SLACK_MS = 2_000;

describe('leaders in processes of their own', () => {
  let db: TestDatabase;
  let processes: LeaderProcesses;

  beforeAll(async () => {
    db = await createTestDatabase();
    processes = new LeaderProcesses(db);
    await processes.createTables();
  });
  afterEach(() => processes.end());
  afterAll(() => db.drop());

  /** Two processes, the first of which leads and has acted. */
  const pair = async (urlOfLeader = db.url, tickMs = TICK_MS): Promise<[SpawnedProcess, SpawnedProcess]> => {
    const leader = await processes.start('first', tickMs, urlOfLeader);
    await leader.event('elected');
    const other = await processes.start('second', tickMs);
    await other.event('tick');
    await acted('first');
    return [leader, other];
  };
  const acted = async (who: string) => {
    const before = await processes.commits(who);
    await waitFor(async () => (await processes.commits(who)) > before, {
      deadlineMs: 30_000,
      what: `an act of the ${who}`,
    });
  };
  const neverTogether = async () => {
    expect(await processes.commits('first')).toBeGreaterThan(0);
    expect(await processes.commits('second')).toBeGreaterThan(0);
    expect(await processes.overlaps()).toEqual({ beliefs: 0, commits: 0 });
  };

  it('L2: a killed leader is succeeded at the next tick; the two never act at once', async () => {
    const [leader, other] = await pair();
    await processes.kill('first', leader);
    const killedAt = performance.now();
    await other.event('elected');
    expect(performance.now() - killedAt).toBeLessThan(TICK_MS + SLACK_MS);
    await acted('second');
    await neverTogether();
  });

  it('L2: one that is shut down gives the name up; its successor acts at its next tick', async () => {
    const [leader, other] = await pair();
    const { code } = await leader.stop();
    const stoppedAt = performance.now();
    expect(code).toBe(0);
    await other.event('elected');
    expect(performance.now() - stoppedAt).toBeLessThan(TICK_MS + SLACK_MS);
    await acted('second');
    await neverTogether();
    await other.stop();
    expect(await leaderLocks(db)).toEqual([]);
  });

  it('L2: a frozen leader is succeeded within two ticks, and does not act when it wakes up', async () => {
    const [leader, other] = await pair();
    leader.signal('SIGSTOP');
    const frozenAt = performance.now();
    await other.event('elected');
    expect(performance.now() - frozenAt).toBeLessThan(2 * TICK_MS + SLACK_MS);
    await acted('second');
    const before = await processes.commits('first');
    leader.signal('SIGCONT');
    await leader.event('lost');
    leader.send({ do: 'report' });
    expect(await leader.event('report')).toMatchObject({ leads: false });
    // It looks again, and waits.
    await acted('second');
    expect(await leader.event('tick')).toBeDefined();
    expect(await processes.commits('first')).toBe(before);
    await neverTogether();
  });

  it('L2: a leader that is frozen while the server runs its statement is succeeded within two ticks as well', async () => {
    const tickMs = 2 * TICK_MS;
    const leader = await processes.start('first', tickMs, db.url, { SLOW: 'yes' });
    await leader.event('elected');
    const other = await processes.start('second', tickMs);
    await other.event('tick');
    const running = "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query = 'SELECT pg_sleep(60)'";
    await waitFor(async () => (await db.adminQuery(running)).length === 1, { what: 'the statement to run' });
    leader.signal('SIGSTOP');
    const frozenAt = performance.now();
    await other.event('elected');
    expect(performance.now() - frozenAt).toBeLessThan(2 * tickMs + SLACK_MS);
    expect((await processes.overlaps()).beliefs).toBe(0);
  });

  it('L2: a leader that was frozen for a moment that nobody noticed is still the only one', async () => {
    const [leader] = await pair();
    for (let i = 0; i < 5; i++) {
      leader.signal('SIGSTOP');
      // Shorter than the belief, about as long, and longer, but not yet freed by the server.
      await db.adminQuery(`SELECT pg_sleep(${[0.2, 0.5, 1.1, 1.3, 1.5][i]})`);
      leader.signal('SIGCONT');
      await db.adminQuery('SELECT pg_sleep(0.5)');
    }
    await waitFor(async () => (await leaderLocks(db)).length === 1, { deadlineMs: 30_000, what: 'somebody to lead' });
    expect(await processes.overlaps()).toEqual({ beliefs: 0, commits: 0 });
  });

  it.each(['answers', 'requests', 'both'] as const)(
    'L2: a leader whose network swallows %s is succeeded within two ticks; the two never act at once',
    async (direction) => {
      const proxy = await TcpProxy.open(db.url);
      try {
        const [leader, other] = await pair(proxy.url);
        proxy.freeze(direction);
        const frozenAt = performance.now();
        await Promise.all([leader.event('lost'), other.event('elected')]);
        expect(performance.now() - frozenAt).toBeLessThan(2 * TICK_MS + SLACK_MS);
        await acted('second');
        proxy.sever();
        proxy.pass();
        // The old one is back, looks, and waits.
        await waitFor(() => proxy.connected > 0, { deadlineMs: 30_000, what: 'the old leader to connect' });
        await acted('second');
        await neverTogether();
      } finally {
        await processes.end();
        await proxy.close();
      }
    },
  );

  it('L3: a leader whose session an operator ends commits nothing more; one of the two leads on', async () => {
    const [leader, other] = await pair();
    await db.terminateBackends(
      "application_name = 'holdfast-leader' AND pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory')",
    );
    await leader.event('lost');
    await Promise.race([leader.event('elected'), other.event('elected')]);
    await waitFor(async () => (await leaderLocks(db)).length === 1, { what: 'one leader' });
    // Ended without its silence, the old one may believe for a moment longer; what it commits it does not (L3).
    expect(await processes.overlaps()).toMatchObject({ commits: 0 });
    await Promise.race([acted('first'), acted('second')]);
    expect(await processes.overlaps()).toMatchObject({ commits: 0 });
  });
});
