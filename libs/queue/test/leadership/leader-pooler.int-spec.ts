import { directConfigOf, SchemaName } from '@holdfast/kernel';
import {
  createTestDatabase,
  PgBouncer,
  type PgBouncerOptions,
  TcpProxy,
  type TestDatabase,
  waitFor,
} from '@holdfast/testing';
import { Pool } from 'pg';
import { PoolerError } from '../../src/errors/pooler.error.js';
import { AdvisoryLockLeadership } from '../../src/leadership/advisory-lock.leadership.js';
import { leaderLocks, Leaderships, losses } from './stand.js';

const TICK = { tickMs: 4_000 };

describe('leadership behind a pooler', () => {
  let db: TestDatabase;
  const leaderships = new Leaderships();
  const poolers: PgBouncer[] = [];

  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterEach(async () => {
    await leaderships.close();
    await Promise.all(poolers.splice(0).map((pooler) => pooler.close()));
  });
  afterAll(() => db.drop());

  const pooler = async (options: PgBouncerOptions): Promise<PgBouncer> => {
    const started = await PgBouncer.start(db.url, options);
    poolers.push(started);
    return started;
  };
  /** What the sessions of the pool have been set to, one after another. */
  const settingsThrough = async (url: string, clients: number) => {
    const pool = new Pool({ connectionString: url, max: clients });
    const read = `SELECT current_setting('statement_timeout') || ' ' || current_setting('idle_session_timeout') || ' ' || current_setting('enable_seqscan') AS settings`;
    const open = await Promise.all(Array.from({ length: clients }, () => pool.connect()));
    for (const client of open) await client.query('BEGIN');
    const rows = await Promise.all(open.map((client) => client.query<{ settings: string }>(read)));
    for (const client of open) await client.query('COMMIT');
    for (const client of open) client.release();
    await pool.end();
    return new Set(rows.map(({ rows: [row] }) => row!.settings));
  };

  it.each<[string, PgBouncerOptions]>([
    ['one connection', { poolMode: 'transaction', poolSize: 1 }],
    ['five connections', { poolMode: 'transaction', poolSize: 5 }],
    ['five connections in turn', { poolMode: 'transaction', poolSize: 5, settings: { server_round_robin: '1' } }],
  ])(
    'L4: behind a transaction-mode pooler with %s it refuses, names directUrl, and leaves nothing behind',
    async (_, options) => {
      const { url } = await pooler(options);
      // The pool is warm: several of its connections are open.
      const before = await settingsThrough(url, options.poolSize!);
      const candidate = leaderships.on(url).candidate('reports', TICK);
      const refused: unknown = await candidate.acquire().catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(PoolerError);
      expect((refused as Error).message).toMatch(/directUrl/);
      expect(candidate.isLeader).toBe(false);
      expect(await leaderLocks(db)).toEqual([]);
      expect(await settingsThrough(url, options.poolSize!)).toEqual(before);
      await leaderships.close();
    },
  );

  it('L4: refuses while others use the pool, at each try', async () => {
    const { url } = await pooler({ poolMode: 'transaction', poolSize: 3 });
    const pool = new Pool({ connectionString: url, max: 6 });
    pool.on('error', () => undefined);
    let busy = true;
    const load = Promise.all(
      Array.from({ length: 6 }, async () => {
        while (busy) await pool.query('SELECT pg_sleep(0.002)').catch(() => undefined);
      }),
    );
    try {
      for (let i = 0; i < 5; i++) {
        const candidate = leaderships.on(url).candidate('reports', TICK);
        await expect(candidate.acquire()).rejects.toBeInstanceOf(PoolerError);
        await leaderships.close();
      }
      expect(await leaderLocks(db)).toEqual([]);
    } finally {
      busy = false;
      await load;
      await pool.end();
    }
  });

  it('L4: leads where directUrl goes around the transaction-mode pooler', async () => {
    const { url } = await pooler({ poolMode: 'transaction' });
    const config = directConfigOf({ connectionString: url }, db.url);
    const leadership = new AdvisoryLockLeadership(config, { schema: new SchemaName('holdfast') });
    leaderships.add(leadership);
    const candidate = leadership.candidate('reports', TICK);
    expect(await candidate.acquire()).toBe(true);
    expect(await candidate.confirm()).toBe(true);
  });

  it('L4: leads through a session-mode pooler, against those who go straight to the server', async () => {
    const { url } = await pooler({ poolMode: 'session', poolSize: 5 });
    const candidate = leaderships.on(url).candidate('reports', { tickMs: 2_000 });
    const direct = leaderships.on(db.url).candidate('reports', TICK);
    expect(await candidate.acquire()).toBe(true);
    expect(await direct.acquire()).toBe(false);
    const lost = losses(candidate);
    await db.adminQuery('SELECT pg_sleep(4)');
    expect(lost).toEqual([]);
    expect(await candidate.confirm()).toBe(true);
    await candidate.release();
    expect(await direct.acquire()).toBe(true);
    // What the session was set to is gone with it, as the pooler resets what it gives to the next client.
    expect(await settingsThrough(url, 3)).toEqual(new Set(['0 0 on']));
  });

  it('L4: through a session-mode pooler with one connection for all, the one who waits has no connection, and gets it with the lead', async () => {
    const { url } = await pooler({ poolMode: 'session', poolSize: 1 });
    const first = leaderships.on(url).candidate('reports', TICK);
    expect(await first.acquire()).toBe(true);
    const second = leaderships.on(url).candidate('reports', { tickMs: 1_000 });
    await expect(second.acquire()).rejects.toMatchObject({ code: 'kernel.connection_lost' });
    await first.release();
    const taken = () => second.acquire().catch(() => false);
    await waitFor(taken, { everyMs: 250, what: 'the second to lead' });
    expect(await leaderLocks(db)).toHaveLength(1);
  });

  it('L2: a leader behind a session-mode pooler is freed by the server when it falls silent', async () => {
    const { url } = await pooler({ poolMode: 'session', poolSize: 5 });
    const proxy = await TcpProxy.open(url);
    try {
      const candidate = leaderships.on(proxy.url).candidate('reports', { tickMs: 2_000 });
      expect(await candidate.acquire()).toBe(true);
      proxy.freeze('requests');
      await waitFor(async () => (await leaderLocks(db)).length === 0, { what: 'the lock to be free' });
      expect(candidate.isLeader).toBe(false);
      expect(await leaderships.on(db.url).candidate('reports', TICK).acquire()).toBe(true);
    } finally {
      await leaderships.close();
      await proxy.close();
    }
  });
});
