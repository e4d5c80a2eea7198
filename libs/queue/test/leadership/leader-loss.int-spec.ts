import { ConnectionLostError } from '@holdfast/kernel';
import {
  createTestDatabase,
  type ProxyDirection,
  TcpProxy,
  type TestDatabase,
  waitFor,
  within,
} from '@holdfast/testing';
import type { Candidate } from '../../src/ports/leadership.js';
import { leaderBackends, leaderLocks, Leaderships, losses, nextLoss } from './stand.js';

const TICK_MS = 2_000;
const TICK = { tickMs: TICK_MS };
const LONG = { tickMs: 120_000 };

describe('losing the lead', () => {
  let db: TestDatabase;
  const leaderships = new Leaderships();

  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterEach(() => leaderships.close());
  afterAll(() => db.drop());

  const leader = async (url = db.url, options = TICK): Promise<Candidate> => {
    const candidate = leaderships.on(url).candidate('reports', options);
    expect(await candidate.acquire()).toBe(true);
    return candidate;
  };
  /** A candidate that looks every tick until it leads. */
  const elected = (candidate: Candidate) =>
    waitFor(() => candidate.acquire().catch(() => false), {
      deadlineMs: 30_000,
      everyMs: TICK_MS,
      what: 'the successor to lead',
    });

  it('L2: a leader whose session was ended knows, is told once, and may stand again', async () => {
    const candidate = await leader(db.url, LONG);
    const reasons = losses(candidate);
    const lost = nextLoss(candidate);
    await db.terminateBackends("application_name = 'holdfast-leader'");
    expect(await within(lost, 10_000, 'the loss')).toBeInstanceOf(ConnectionLostError);
    expect([candidate.isLeader, candidate.beliefLeftMs, await candidate.confirm()]).toEqual([false, 0, false]);
    expect(await candidate.acquire()).toBe(true);
    expect(reasons).toHaveLength(1);
    expect(await leaderBackends(db)).toHaveLength(1);
  });

  it('L2: of all names of a process each is told, whatever one of the listeners throws', async () => {
    const leadership = leaderships.on(db.url);
    const [a, b, waiting] = ['a', 'b', 'c'].map((name) => leadership.candidate(name, LONG)) as [
      Candidate,
      Candidate,
      Candidate,
    ];
    await Promise.all([a.acquire(), b.acquire()]);
    const off = a.onLost(() => {
      throw new Error('from a listener');
    });
    const removed = losses(a);
    a.onLost(() => undefined)();
    const reasons = losses(b);
    const never = losses(waiting);
    await db.terminateBackends("application_name = 'holdfast-leader'");
    await waitFor(() => reasons.length === 1 && removed.length === 1, { what: 'both losses' });
    off();
    expect([a.isLeader, b.isLeader, never.length]).toEqual([false, false, 0]);
  });

  it.each<ProxyDirection | 'both'>(['answers', 'requests', 'both'])(
    'L2: with a network that swallows %s the old leader stops to believe before the server frees the name, within a tick',
    async (direction) => {
      const proxy = await TcpProxy.open(db.url);
      try {
        const candidate = await leader(proxy.url, { tickMs: 4_000 });
        const reason = nextLoss(candidate);
        proxy.freeze(direction);
        const frozenAt = performance.now();
        // Sampled for as long as the lock is there: who believes then is right to. The first look that does not find it must not find a believer.
        const believedWhenFreed = await waitFor(
          async () => ((await leaderLocks(db)).length === 0 ? { believes: candidate.isLeader } : undefined),
          { everyMs: 5, what: 'the server to free the lock' },
        );
        expect(believedWhenFreed).toEqual({ believes: false });
        expect(performance.now() - frozenAt).toBeLessThan(4_000 * 1.5);
        expect((await reason).message).toMatch(/could not be proved|was lost/);
        const successor = leaderships.on(db.url).candidate('reports', TICK);
        expect(await successor.acquire()).toBe(true);
        expect(candidate.isLeader).toBe(false);
      } finally {
        await leaderships.close();
        await proxy.close();
      }
    },
  );

  it('L2: with a frozen network a leader stops to believe 0.6 tick after the send of its last proof, whoever asks', async () => {
    const proxy = await TcpProxy.open(db.url);
    try {
      const candidate = await leader(proxy.url, { tickMs: 4_000 });
      proxy.freeze('answers');
      const frozenAt = performance.now();
      const lost = nextLoss(candidate);
      expect(candidate.beliefLeftMs).toBeLessThanOrEqual(2_400);
      const confirmed = await candidate.confirm();
      expect(confirmed).toBe(false);
      expect(performance.now() - frozenAt).toBeLessThan(4_000);
      expect([candidate.isLeader, candidate.beliefLeftMs]).toEqual([false, 0]);
      await lost;
    } finally {
      await leaderships.close();
      await proxy.close();
    }
  });

  it('L2: a proof is believed from its send, not from its answer', async () => {
    const proxy = await TcpProxy.open(db.url);
    try {
      const candidate = await leader(proxy.url, { tickMs: 10_000 });
      proxy.delay(500);
      const confirming = candidate.confirm();
      expect(await confirming).toBe(true);
      // There and back took a second of the six.
      expect(candidate.beliefLeftMs).toBeLessThanOrEqual(5_000);
      expect(candidate.beliefLeftMs).toBeGreaterThan(1_000);
    } finally {
      await leaderships.close();
      await proxy.close();
    }
  });

  it('L2: one who waits on a dead connection notices within a tick that the name is free', async () => {
    const proxy = await TcpProxy.open(db.url);
    try {
      const first = await leader();
      const waiting = leaderships.on(proxy.url).candidate('reports', TICK);
      expect(await waiting.acquire()).toBe(false);
      proxy.freeze('requests');
      await waitFor(() => proxy.connected === 1, { what: 'the connection to be there' });
      await first.release();
      // What it has is dead, and nobody told it. Its request is swallowed; when it gives the connection up, the network is back.
      proxy.when({ act: (p) => p.pass(), moment: 'after', text: 'pg_try_advisory_lock' });
      expect(await waiting.acquire()).toBe(true);
    } finally {
      await leaderships.close();
      await proxy.close();
    }
  });

  it('L1: a lock that was taken while the answer was lost is not kept: the next who stands has it', async () => {
    const proxy = await TcpProxy.open(db.url);
    try {
      const unlucky = leaderships.on(proxy.url).candidate('reports', TICK);
      proxy.when({ act: (p) => p.freeze('answers'), text: 'pg_try_advisory_lock' });
      await expect(unlucky.acquire()).rejects.toBeInstanceOf(ConnectionLostError);
      expect(unlucky.isLeader).toBe(false);
      const successor = leaderships.on(db.url).candidate('reports', TICK);
      await elected(successor);
      expect(await leaderLocks(db)).toHaveLength(1);
    } finally {
      await leaderships.close();
      await proxy.close();
    }
  });

  it('K9: an election that fails by an error of the server leaves nobody leader who is not, and no lock', async () => {
    const role = await db.createRole();
    await db.adminQuery('REVOKE EXECUTE ON FUNCTION pg_catalog.pg_try_advisory_lock(int, int) FROM PUBLIC');
    const candidate = leaderships.on(role.url).candidate('reports', TICK);
    await expect(candidate.acquire()).rejects.toMatchObject({ code: '42501' });
    expect(candidate.isLeader).toBe(false);
    const winner = await leader();
    await db.adminQuery('GRANT EXECUTE ON FUNCTION pg_catalog.pg_try_advisory_lock(int, int) TO PUBLIC');
    expect(await candidate.acquire()).toBe(false);
    expect([winner.isLeader, candidate.isLeader]).toEqual([true, false]);
    await winner.release();
    expect(await candidate.acquire()).toBe(true);
  });

  it('K9: a proof that fails by an error of the server is a loss, not a leader that believes on', async () => {
    const role = await db.createRole();
    const candidate = await leader(role.url, LONG);
    const lost = nextLoss(candidate);
    await db.adminQuery('REVOKE EXECUTE ON FUNCTION pg_catalog.pg_backend_pid() FROM PUBLIC');
    try {
      expect(await candidate.confirm()).toBe(false);
      await lost;
    } finally {
      await db.adminQuery('GRANT EXECUTE ON FUNCTION pg_catalog.pg_backend_pid() TO PUBLIC');
    }
    await waitFor(async () => (await leaderLocks(db)).length === 0, { what: 'the lock to be free' });
    expect(await candidate.acquire()).toBe(true);
  });

  it('L3: a statement that an operator cancels fails its transaction and nothing else', async () => {
    const candidate = await leader(db.url, LONG);
    const reasons = losses(candidate);
    const sleeping = candidate.transaction((sql) => sql.query('SELECT pg_sleep(20)'));
    const outcome = sleeping.catch((error: unknown) => error);
    const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'holdfast-leader' AND query LIKE '%pg_sleep%' AND state = 'active'`;
    await waitFor(async () => (await db.adminQuery(cancel)).length === 1, { what: 'the statement to be cancelled' });
    expect(await outcome).toMatchObject({ code: '57014' });
    expect(await candidate.confirm()).toBe(true);
    expect(reasons).toEqual([]);
  });

  it('K120: giving up and closing are clean and quick when the session is gone, or does not answer', async () => {
    const proxy = await TcpProxy.open(db.url);
    try {
      const ended = await leader(db.url, LONG);
      await db.terminateBackends("application_name = 'holdfast-leader'");
      await within(ended.release(), 5_000, 'the release after the end of the session');
      const silentLeadership = leaderships.on(proxy.url);
      const silent = silentLeadership.candidate('reports', LONG);
      const other = silentLeadership.candidate('prices', LONG);
      await Promise.all([silent.acquire(), other.acquire()]);
      const reasons = losses(other);
      proxy.freeze();
      await within(silent.release(), 15_000, 'the release without an answer');
      expect([silent.isLeader, other.isLeader, reasons.length]).toEqual([false, false, 1]);
      proxy.sever();
      proxy.pass();
      await waitFor(() => other.acquire().catch(() => false), { what: 'a session again' });
      proxy.freeze();
      await within(silentLeadership.close(), 15_000, 'the close without an answer');
      expect(other.isLeader).toBe(false);
    } finally {
      await proxy.close();
    }
    await leader();
  });
});
