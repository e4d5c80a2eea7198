import { ConnectionLostError, SchemaName } from '@holdfast/kernel';
import { createEmptyDatabase, createTestDatabase, type TestDatabase, TcpProxy, waitFor } from '@holdfast/testing';
import { DuplicateCandidateError } from '../../src/errors/duplicate-candidate.error.js';
import { LeadershipClosedError } from '../../src/errors/leadership-closed.error.js';
import { UnlockFailedError } from '../../src/errors/unlock-failed.error.js';
import { AdvisoryLockLeadership } from '../../src/leadership/advisory-lock.leadership.js';
import { LEADER_LOCK_CLASS, lockKeyOf, lockObjectOf } from '../../src/leadership/lock.key.js';
import type { Candidate } from '../../src/ports/leadership.js';
import { leaderBackends, leaderLocks, Leaderships, losses, nextLoss } from './stand.js';

const TICK = { tickMs: 4_000 };
/** Nothing of a leader's own accord happens within a test. */
const LONG = { tickMs: 120_000 };

describe('leadership by advisory locks', () => {
  let db: TestDatabase;
  const leaderships = new Leaderships();

  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterEach(() => leaderships.close());
  afterAll(() => db.drop());

  const settings = async (candidate: Candidate) => {
    const names = ['idle_session_timeout', 'idle_in_transaction_session_timeout', 'statement_timeout'];
    const read = `SELECT name, setting::int AS ms FROM pg_settings WHERE name = ANY($1)`;
    const { rows } = await candidate.transaction((sql) => sql.query<{ ms: number; name: string }>(read, [names]));
    return names.map((name) => rows.find((row) => row.name === name)?.ms);
  };

  it('L1: of two candidates one leads; once it gives the name up the other has it at its next try', async () => {
    const one = leaderships.on(db.url).candidate('reports', TICK);
    const two = leaderships.on(db.url).candidate('reports', TICK);
    expect(await one.acquire()).toBe(true);
    expect(await two.acquire()).toBe(false);
    expect([one.isLeader, two.isLeader]).toEqual([true, false]);
    expect(one.beliefLeftMs).toBeGreaterThan(0);
    expect(one.beliefLeftMs).toBeLessThanOrEqual(2_400);
    expect([two.beliefLeftMs, await two.confirm()]).toEqual([0, false]);
    await one.release();
    expect([one.isLeader, await one.confirm()]).toEqual([false, false]);
    expect(await two.acquire()).toBe(true);
  });

  it('L1: the lock is the one that the documentation computes, on a session of its own name', async () => {
    await leaderships.on(db.url).candidate('price-feed', TICK).acquire();
    const key = lockKeyOf(new SchemaName('holdfast'), 'price-feed');
    const [lock] = await leaderLocks(db);
    expect(lock?.objid).toBe(String(lockObjectOf(key)));
    expect(await leaderBackends(db)).toEqual([{ pid: lock?.pid }]);
    const documented = await db.adminQuery<{ pid: number }>(
      `SELECT a.pid FROM pg_locks l JOIN pg_stat_activity a USING (pid)
       WHERE l.locktype = 'advisory' AND l.classid = 1752132711 AND l.granted
         AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
         AND l.objid = (('x' || left(encode(sha256(convert_to(E'holdfast\\nprice-feed', 'UTF8')), 'hex'), 8))::bit(32)::bigint)::oid`,
    );
    expect(documented).toEqual([{ pid: lock?.pid }]);
    expect(LEADER_LOCK_CLASS).toBe(1_752_132_711);
  });

  it('L1: what is held is not taken a second time, however often and by how many at once it is asked for', async () => {
    const leadership = leaderships.on(db.url);
    const candidate = leadership.candidate('reports', TICK);
    // Another name keeps the session, on which a lock that was taken twice would be left.
    await leadership.candidate('prices', TICK).acquire();
    expect(await Promise.all(Array.from({ length: 5 }, () => candidate.acquire()))).toEqual(Array(5).fill(true));
    expect(await candidate.acquire()).toBe(true);
    await candidate.release();
    expect(await leaderLocks(db)).toHaveLength(1);
  });

  it('L1: many names of a process share one connection, which is closed when nobody stands any more', async () => {
    const leadership = leaderships.on(db.url);
    const candidates = ['a', 'b', 'c', 'd'].map((name) => leadership.candidate(name, TICK));
    expect(leadership.connections).toEqual({ leadership: 1 });
    expect(await leaderBackends(db)).toEqual([]);
    expect(await Promise.all(candidates.map((candidate) => candidate.acquire()))).toEqual([true, true, true, true]);
    expect(await leaderBackends(db)).toHaveLength(1);
    expect(await leaderLocks(db)).toHaveLength(4);
    await Promise.all(candidates.slice(1).map((candidate) => candidate.release()));
    expect(await leaderLocks(db)).toHaveLength(1);
    expect(candidates.map(({ isLeader }) => isLeader)).toEqual([true, false, false, false]);
    await candidates[0]!.release();
    await waitFor(async () => (await leaderBackends(db)).length === 0, { what: 'the connection to close' });
  });

  it('L1: other schemas and other databases have leaders of their own', async () => {
    const other = await createEmptyDatabase();
    try {
      const schema = new SchemaName('billing');
      const billing = new AdvisoryLockLeadership({ connectionString: db.url }, { schema });
      leaderships.add(billing);
      const there = leaderships.on(other.url);
      const all = [leaderships.on(db.url), billing, there].map((leadership) => leadership.candidate('reports', TICK));
      expect(await Promise.all(all.map((candidate) => candidate.acquire()))).toEqual([true, true, true]);
      await leaderships.close();
    } finally {
      await other.drop();
    }
  });

  it('L2: the session may be silent for as long as the smallest tick of its names says', async () => {
    const leadership = leaderships.on(db.url);
    const slow = leadership.candidate('slow', LONG);
    const quick = leadership.candidate('quick', { tickMs: 20_000 });
    await slow.acquire();
    expect(await settings(slow)).toEqual([96_000, 84_000, 30_000]);
    expect(slow.beliefLeftMs).toBeGreaterThan(60_000);
    await quick.acquire();
    expect(await settings(slow)).toEqual([16_000, 14_000, 5_000]);
    expect(slow.beliefLeftMs).toBeLessThanOrEqual(12_000);
    await quick.release();
    expect(await settings(slow)).toEqual([96_000, 84_000, 30_000]);
    expect(slow.beliefLeftMs).toBeGreaterThan(60_000);
  });

  it('L2: one that waits may be silent: the server ends no session that holds nothing', async () => {
    await leaderships.on(db.url).candidate('reports', TICK).acquire();
    const waiting = leaderships.on(db.url).candidate('reports', { tickMs: 100 });
    await waiting.acquire();
    const [session] = (await leaderBackends(db)).slice(-1);
    // Ten of its ticks, seen by the server.
    await db.adminQuery('SELECT pg_sleep(1)');
    expect(await leaderBackends(db)).toContainEqual(session);
  });

  it('L2: a leader that does nothing but lead keeps proving it, and stays leader for many ticks', async () => {
    const candidate = leaderships.on(db.url).candidate('reports', { tickMs: 1_500 });
    const lost = losses(candidate);
    expect(await candidate.acquire()).toBe(true);
    const [first] = await leaderBackends(db);
    // The server would end it after 0.8 tick of silence.
    await db.adminQuery('SELECT pg_sleep(6)');
    expect(lost).toEqual([]);
    expect(candidate.isLeader).toBe(true);
    expect(await leaderBackends(db)).toEqual([first]);
    expect(await candidate.confirm()).toBe(true);
  });

  it('K107: elected and stepped down twenty times, with two names and two processes: no lock is left', async () => {
    const here = leaderships.on(db.url);
    const there = leaderships.on(db.url);
    for (let i = 0; i < 20; i++) {
      const [a, b] = [here.candidate('a', TICK), here.candidate('b', TICK)];
      const rival = there.candidate('a', TICK);
      expect(await Promise.all([a.acquire(), b.acquire()])).toEqual([true, true]);
      expect(await rival.acquire()).toBe(false);
      await a.release();
      expect(await rival.acquire()).toBe(true);
      await Promise.all([b.release(), rival.release()]);
      expect(await leaderLocks(db)).toEqual([]);
    }
    await waitFor(async () => (await leaderBackends(db)).length === 0, { what: 'the connections to close' });
  });

  it('K107: a second candidate of a name is refused in one Leadership, also as one that was released stands again', async () => {
    const leadership = leaderships.on(db.url);
    const first = leadership.candidate('reports', TICK);
    expect(() => leadership.candidate('reports', TICK)).toThrow(DuplicateCandidateError);
    await first.release();
    const second = leadership.candidate('reports', TICK);
    await expect(first.acquire()).rejects.toThrow(DuplicateCandidateError);
    expect(await second.acquire()).toBe(true);
    await second.release();
    expect(await first.acquire()).toBe(true);
  });

  it('K107: two Leaderships of one process stand against each other, each with a session of its own', async () => {
    const one = leaderships.on(db.url).candidate('reports', TICK);
    const two = leaderships.on(db.url).candidate('reports', TICK);
    const first = await Promise.all([one.acquire(), two.acquire()]);
    expect(first.filter(Boolean)).toHaveLength(1);
    expect(await leaderBackends(db)).toHaveLength(2);
    const [leader, other] = first[0] ? [one, two] : [two, one];
    await leader.release();
    expect(await other.acquire()).toBe(true);
    expect(await leaderLocks(db)).toHaveLength(1);
  });

  it('K107: an unlock that answers false ends the session, and is told', async () => {
    const leadership = leaderships.on(db.url);
    const candidate = leadership.candidate('reports', LONG);
    const other = leadership.candidate('prices', LONG);
    await candidate.acquire();
    await other.acquire();
    const [reasons, others] = [losses(candidate), losses(other)];
    const key = lockKeyOf(new SchemaName('holdfast'), 'reports');
    const meddled = candidate.transaction(async (sql) => {
      await sql.query('SELECT pg_advisory_unlock($1::integer, $2::integer)', [LEADER_LOCK_CLASS, key]);
      throw new Error('a rollback gives no lock back');
    });
    await expect(meddled).rejects.toThrow('a rollback gives no lock back');
    await candidate.release();
    expect(reasons).toEqual([expect.any(UnlockFailedError)]);
    expect(others).toEqual([expect.any(UnlockFailedError)]);
    expect(other.isLeader).toBe(false);
    await waitFor(async () => (await leaderLocks(db)).length === 0, { what: 'the session to be gone' });
    expect(await other.acquire()).toBe(true);
  });

  it('K107: a lock that is gone is noticed by the next proof', async () => {
    const candidate = leaderships.on(db.url).candidate('reports', LONG);
    await candidate.acquire();
    const lost = nextLoss(candidate);
    const unlocked = candidate.transaction(async (sql) => {
      await sql.query('SELECT pg_advisory_unlock_all()');
      throw new Error('rolled back');
    });
    await expect(unlocked).rejects.toThrow('rolled back');
    expect(await candidate.confirm()).toBe(false);
    await expect(lost).resolves.toMatchObject({ code: 'queue.leadership_unproved' });
    expect(await candidate.acquire()).toBe(true);
  });

  it('K120: after its close nobody leads and nothing can be had of it; a second close is harmless', async () => {
    const leadership = leaderships.on(db.url);
    const candidate = leadership.candidate('reports', TICK);
    const reasons = losses(candidate);
    await candidate.acquire();
    await Promise.all([leadership.close(), leadership.close()]);
    await leadership.close();
    expect(reasons).toEqual([]);
    expect([candidate.isLeader, await candidate.confirm()]).toEqual([false, false]);
    expect(await leaderLocks(db)).toEqual([]);
    await expect(candidate.acquire()).rejects.toThrow(LeadershipClosedError);
    expect(() => leadership.candidate('others', TICK)).toThrow(LeadershipClosedError);
    await candidate.release();
  });

  it('K120: a close while it connects gives the connecting up', async () => {
    const proxy = await TcpProxy.open(db.url);
    try {
      proxy.freeze('answers');
      const leadership = leaderships.on(proxy.url);
      const acquiring = leadership.candidate('reports', LONG).acquire();
      const outcome = acquiring.catch((error: unknown) => error);
      await waitFor(() => proxy.connected === 1, { what: 'it to connect' });
      await leadership.close();
      expect(await outcome).toBeInstanceOf(LeadershipClosedError);
      await waitFor(() => proxy.connected === 0, { what: 'the socket to be closed' });
    } finally {
      await proxy.close();
    }
  });

  it('L1: a name that is given up while it connects is not taken any more', async () => {
    const proxy = await TcpProxy.open(db.url);
    try {
      proxy.delay(150);
      const leadership = leaderships.on(proxy.url);
      const candidate = leadership.candidate('reports', LONG);
      const acquiring = candidate.acquire();
      await waitFor(() => proxy.connected === 1, { what: 'it to connect' });
      await candidate.release();
      expect(await acquiring).toBe(false);
      expect(await leaderLocks(db)).toEqual([]);
      await waitFor(() => proxy.connected === 0, { what: 'the connection to be closed' });
    } finally {
      await proxy.close();
    }
  });

  it('L1: without a server acquire rejects, at once again for a while, and takes the name when there is one', async () => {
    const proxy = await TcpProxy.open(db.url);
    try {
      proxy.refuse();
      const candidate = leaderships.on(proxy.url).candidate('reports', { tickMs: 2_000 });
      const error: unknown = await candidate.acquire().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ConnectionLostError);
      // The pause after a failure: nothing is sent, the answer is the same.
      await expect(candidate.acquire()).rejects.toBe(error);
      proxy.pass();
      await waitFor(() => candidate.acquire().catch(() => false), { everyMs: 100, what: 'the name to be taken' });
    } finally {
      await leaderships.close();
      await proxy.close();
    }
  });
});
