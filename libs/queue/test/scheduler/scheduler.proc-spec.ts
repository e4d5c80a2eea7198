import {
  createTestDatabase,
  type SpawnedProcess,
  spawnTs,
  TcpProxy,
  type TestDatabase,
  waitFor,
} from '@holdfast/testing';

const TICK_MS = 2_000;
/** What this machine may add to a bound that the rules state in ticks. */
const SLACK_MS = 2_000;

describe('Schedulers in processes of their own', () => {
  let db: TestDatabase;
  const children: SpawnedProcess[] = [];

  beforeAll(async () => {
    db = await createTestDatabase();
    await db.adminQuery('CREATE TABLE duty_log (who text, began timestamptz, ended timestamptz)');
  });
  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.signal('SIGCONT');
      if (!child.exited) await child.kill();
    }
    await waitFor(async () => (await db.backends()).length === 0, { what: 'the connections to be closed' });
    await db.adminQuery('TRUNCATE duty_log, holdfast.leader_duty');
  });
  afterAll(() => db.drop());

  const start = async (who: string, url = db.url) => {
    const env = { DATABASE_URL: url, TICK: `${TICK_MS}ms`, WHO: who };
    const child = spawnTs('libs/queue/test/scheduler/scheduler.child.ts', { env });
    children.push(child);
    await child.event('ready');
    return child;
  };
  const runs = async (who: string) => {
    const [row] = await db.adminQuery<{ n: number }>('SELECT count(*)::int AS n FROM duty_log WHERE who = $1', [who]);
    return row!.n;
  };
  const runsOn = async (who: string) => {
    const before = await runs(who);
    await waitFor(async () => (await runs(who)) >= before + 2, { what: `two more runs in the ${who}` });
  };
  /** Two processes, the first of which leads and runs the duty, and the second has looked. */
  const pair = async (url?: string): Promise<[SpawnedProcess, SpawnedProcess]> => {
    const first = await start('first', url);
    await runsOn('first');
    const second = await start('second');
    await second.event('tick');
    return [first, second];
  };
  /** succeeded waits for the second to lead, which it must within so many ticks of now. */
  const succeeded = async (second: SpawnedProcess, ticks: number) => {
    const lostAt = performance.now();
    await second.event('leader.elected');
    expect(performance.now() - lostAt).toBeLessThan(ticks * TICK_MS + SLACK_MS);
    await runsOn('second');
  };
  const neverTogether = async () => {
    const together =
      'SELECT 1 FROM duty_log a JOIN duty_log b ON a.who < b.who AND a.began < b.ended AND b.began < a.ended';
    expect(await db.adminQuery(together)).toEqual([]);
  };

  it('S3, L2: the duties of a killed leader go on in the other process within two ticks; never two run at once', async () => {
    const [first, second] = await pair();
    await first.kill();
    await succeeded(second, 2);
    await neverTogether();
  });

  it('S3, L2: those of one that is shut down go on at the next tick of the other', async () => {
    const [first, second] = await pair();
    expect(await first.stop()).toEqual({ code: 0, signal: null });
    await succeeded(second, 1);
    await neverTogether();
    expect(await second.stop()).toEqual({ code: 0, signal: null });
    const locks = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory'
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    expect(await db.adminQuery(locks)).toEqual([]);
  });

  it('S3, L2: those of one that is frozen go on within two ticks, and when it wakes up it runs none', async () => {
    const [first, second] = await pair();
    first.signal('SIGSTOP');
    await succeeded(second, 2);
    const before = await runs('first');
    first.signal('SIGCONT');
    await first.event('leader.lost');
    await runsOn('second');
    expect(await runs('first')).toBe(before);
    await neverTogether();
  });

  it('S3, L2: those of one whose network drops everything go on within two ticks; when it is back it runs none', async () => {
    const proxy = await TcpProxy.open(db.url);
    try {
      const [first, second] = await pair(proxy.url);
      proxy.freeze('both');
      await Promise.all([first.event('leader.lost'), succeeded(second, 2)]);
      const before = await runs('first');
      proxy.sever();
      proxy.pass();
      await waitFor(() => proxy.connected > 0, { what: 'the old leader to connect' });
      await runsOn('second');
      expect(await runs('first')).toBe(before);
      await neverTogether();
      await first.kill();
    } finally {
      await proxy.close();
    }
  });
});
