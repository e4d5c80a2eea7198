import { waitFor, within } from '@holdfast/testing';
import { PermanentError } from '@holdfast/kernel';
import type { DutyContext } from '../../src/ports/duty.js';
import { gate, SchedulerStand } from './scheduler.stand.js';

const DAY = '1d';
/** A tick that a busy machine keeps. */
const LOCKED = { leadership: 'advisory-lock', tickMs: 1_000 } as const;

describe('A scheduler', () => {
  let stand: SchedulerStand;

  beforeAll(async () => (stand = await SchedulerStand.open({ leadership: 'always', tickMs: 200 })));
  afterEach(() => stand.end());
  afterAll(() => stand.close());

  const ledger = () =>
    stand.db.adminQuery<{ error_class: string | null; error_code: string | null; failures: number; name: string }>(
      `SELECT name, failures, error_code, error_class FROM holdfast.leader_duty WHERE name LIKE 'test.%' ORDER BY name`,
    );

  it('S1: ticks at once, then every interval; the lag is against when the tick was due, never negative', async () => {
    const test = stand.scheduler({ tickMs: 100 });
    const before = performance.now();
    await test.scheduler.start();
    await test.seen('scheduler.tick');
    expect(performance.now() - before).toBeLessThan(60_000);
    await test.seen('scheduler.tick', undefined, 4);
    for (const { lagMs } of test.all('scheduler.tick')) expect(lagMs).toBeGreaterThanOrEqual(0);
  });

  it('S1: a late tick is followed by the next at its time, and not by those that were missed', async () => {
    const tickMs = 200;
    const test = stand.scheduler({ tickMs });
    await test.scheduler.start();
    await test.seen('scheduler.tick', undefined, 2);
    const until = performance.now() + 6 * tickMs;
    while (performance.now() < until) void 0;
    const late = await test.seen('scheduler.tick', ({ lagMs }) => lagMs >= 4 * tickMs);
    const at = test.events.indexOf(late);
    const told = performance.now();
    await test.seen('scheduler.tick', (event) => test.events.indexOf(event) > at, 3);
    // Three more ticks of the grid take more than two intervals; in a burst they would come at once.
    expect(performance.now() - told).toBeGreaterThan(1.5 * tickMs);
  });

  it('S3: the last run of a duty that nobody has started since it was due 30 days ago is taken away; those of others stay', async () => {
    const row = (name: string, every: string, ago: string) =>
      stand.db.adminQuery(
        `INSERT INTO holdfast.leader_duty (name, run, owner, every, deadline, started_at, ended_at)
         VALUES ($1, gen_random_uuid(), 'gone', $2::interval, '1 minute', clock_timestamp() - $3::interval, clock_timestamp() - $3::interval)`,
        [name, every, ago],
      );
    await row('test.removed', '1 hour', '31 days');
    await row('test.kept', '1 hour', '50 days');
    await row('test.recent', '1 hour', '29 days');
    await row('test.seldom', '60 days', '50 days');
    const test = stand.scheduler(
      { unhandledMs: 100 },
      { every: '100d', name: 'test.kept', run: () => undefined },
      { every: DAY, name: 'queue.test', run: () => undefined },
    );
    await test.scheduler.start();
    await test.seen('duty.done', ({ name }) => name === 'queue.unhandled_kinds');
    expect((await ledger()).map(({ name }) => name)).toEqual(['test.kept', 'test.recent', 'test.seldom']);
  });

  it('S3: duties run one after another in the leader, and each only every so often', async () => {
    const order: string[] = [];
    let inside = 0;
    const duty = (name: string, every: string) => ({
      every,
      name,
      run: async () => {
        expect(++inside).toBe(1);
        order.push(name);
        await new Promise((resolve) => setImmediate(resolve));
        inside--;
      },
    });
    const test = stand.scheduler({}, duty('test.often', '300ms'), duty('test.seldom', DAY));
    await test.scheduler.start();
    await test.seen('duty.done', ({ name }) => name === 'test.often', 3);
    expect(order.filter((name) => name === 'test.seldom')).toHaveLength(1);
    expect(test.all('duty.failed')).toEqual([]);
    const runs = await test.scheduler.lastRuns();
    expect(runs.find(({ name }) => name === 'test.seldom')).toMatchObject({
      deadlineMs: 60_000,
      error: null,
      everyMs: 86_400_000,
      failures: 0,
      state: 'done',
    });
  });

  it('S3: every is measured from start to start by the database, and never sooner', async () => {
    const test = stand.scheduler({}, { every: '400ms', name: 'test.paced', run: () => undefined });
    await stand.db.adminQuery(
      `CREATE TABLE starts AS SELECT started_at FROM holdfast.leader_duty WHERE false;
       CREATE FUNCTION note_start() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         IF NEW.name = 'test.paced' AND NEW.ended_at IS NULL THEN INSERT INTO starts VALUES (NEW.started_at); END IF; RETURN NEW; END $$;
       CREATE TRIGGER note_start AFTER INSERT OR UPDATE ON holdfast.leader_duty FOR EACH ROW EXECUTE FUNCTION note_start()`,
    );
    await test.scheduler.start();
    await test.seen('duty.done', ({ name }) => name === 'test.paced', 5);
    await test.scheduler.stop();
    const rows = await stand.db.adminQuery<{ gap_ms: number }>(
      `SELECT (extract(epoch FROM started_at - lag(started_at) OVER (ORDER BY started_at)) * 1000)::float8 AS gap_ms FROM starts`,
    );
    await stand.db.adminQuery(
      'DROP TRIGGER note_start ON holdfast.leader_duty; DROP FUNCTION note_start; DROP TABLE starts',
    );
    const gaps = rows.map(({ gap_ms }) => gap_ms).filter((gap) => gap !== null);
    expect(gaps.length).toBeGreaterThanOrEqual(4);
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(400);
  });

  it('S3: a duty that throws is recorded by code and class and never by its message, and is due again sooner than every', async () => {
    let runs = 0;
    const secret = 'what a user wrote';
    const test = stand.scheduler(
      { tickMs: 100 },
      {
        every: DAY,
        name: 'test.broken',
        run: () => {
          if (++runs === 1) throw new PermanentError('billing.closed', { message: secret });
          if (runs === 2) throw Object.assign(new TypeError(secret), { code: '23505' });
        },
      },
      { every: DAY, name: 'test.next', run: () => undefined },
    );
    await test.scheduler.start();
    const first = await test.seen('duty.failed');
    expect(first).toMatchObject({ code: 'billing.closed', failures: 1, name: 'test.broken', retryMs: 100 });
    await test.seen('duty.done', ({ name }) => name === 'test.next');
    const second = await test.seen('duty.failed', undefined, 2);
    expect(second).toMatchObject({ code: 'queue.duty_failed', failures: 2, retryMs: 200 });
    const [broken] = await ledger();
    expect(broken).toMatchObject({ error_class: 'TypeError 23505', error_code: 'queue.duty_failed', failures: 2 });
    expect(JSON.stringify(await ledger())).not.toContain(secret);
    await test.seen('duty.done', ({ name }) => name === 'test.broken');
    await waitFor(async () => (await ledger())[0]?.failures === 0, { what: 'no failure in a row' });
    expect((await ledger())[0]).toMatchObject({ error_class: null, error_code: null });
  });

  const codeThrows = Object.defineProperty({}, 'code', {
    get: () => {
      throw new Error('no');
    },
  });
  it.each<[string, () => unknown]>([
    ['undefined', () => undefined],
    ['null', () => null],
    ['a text', () => 'a text'],
    ['what throws when it is looked at', () => codeThrows],
  ])('S3: a duty that throws %s fails, and nothing else does', async (_what, thrown) => {
    const test = stand.scheduler(
      {},
      {
        every: DAY,
        name: 'test.odd',
        run: () => {
          throw thrown();
        },
      },
    );
    await test.scheduler.start();
    expect(await test.seen('duty.failed')).toMatchObject({ code: 'queue.duty_failed', name: 'test.odd' });
    const ticks = test.all('scheduler.tick').length;
    await test.seen('scheduler.tick', undefined, ticks + 2);
  });

  it('S3: a duty that hangs is told to stop at its deadline; the next has its turn, ticks go on, and it is not started again before it has returned', async () => {
    const hung = gate();
    let starts = 0;
    let aborted: unknown;
    const test = stand.scheduler(
      { abortWaitMs: 50, tickMs: 100 },
      {
        deadline: '200ms',
        every: '300ms',
        name: 'test.hung',
        run: async ({ signal }) => {
          starts++;
          signal.addEventListener('abort', () => (aborted = signal.reason));
          await hung.opened;
        },
      },
      { every: '300ms', name: 'test.next', run: () => undefined },
    );
    await test.scheduler.start();
    expect(await test.seen('duty.overrun')).toMatchObject({ name: 'test.hung', returned: false });
    expect(aborted).toMatchObject({ code: 'queue.duty_timed_out', deadlineMs: 200, duty: 'test.hung' });
    expect(await test.seen('duty.failed')).toMatchObject({ code: 'queue.duty_timed_out', name: 'test.hung' });
    const ticks = test.all('scheduler.tick').length;
    await test.seen('duty.done', ({ name }) => name === 'test.next', 4);
    await test.seen('scheduler.tick', undefined, ticks + 4);
    expect(starts).toBe(1);
    expect((await ledger())[0]).toMatchObject({ error_code: 'queue.duty_timed_out', failures: 1 });
    hung.open();
    await test.seen('duty.overrun', ({ returned }) => returned);
    await waitFor(() => starts >= 2, { what: 'the duty to be started again' });
  });

  it('S3: ticks go on while a duty runs', async () => {
    const slow = gate();
    const test = stand.scheduler({ tickMs: 100 }, { every: DAY, name: 'test.slow', run: () => slow.opened });
    await test.scheduler.start();
    await test.seen('duty.started', ({ name }) => name === 'test.slow');
    const ticks = test.all('scheduler.tick').length;
    await test.seen('scheduler.tick', undefined, ticks + 5);
    expect(test.scheduler.isLeader).toBe(true);
    slow.open();
    await test.seen('duty.done', ({ name }) => name === 'test.slow');
  });

  it('L3: a duty writes through the leader’s connection, and what it writes is gone when it fails', async () => {
    await stand.db.adminQuery('CREATE TABLE swept (at int)');
    await stand.db.adminQuery('GRANT ALL ON swept TO PUBLIC');
    let runs = 0;
    const test = stand.scheduler(LOCKED, {
      every: DAY,
      name: 'test.sweep',
      run: async (ctx) => {
        runs++;
        await ctx.transaction(async (executor) => {
          const { rows } = await executor.query<{ name: string }>(
            `SELECT application_name AS name FROM pg_stat_activity WHERE pid = pg_backend_pid()`,
          );
          expect(rows[0]?.name).toBe('holdfast-leader');
          await executor.query('INSERT INTO swept VALUES ($1::int)', [runs]);
          if (runs === 1) throw new Error('not this time');
        });
      },
    });
    await test.scheduler.start();
    await test.seen('duty.done', ({ name }) => name === 'test.sweep');
    expect(await stand.db.adminQuery('SELECT at FROM swept')).toEqual([{ at: 2 }]);
    await stand.db.adminQuery('DROP TABLE swept');
  });

  it('S3: runNow makes a duty due at once, from a process that does not lead too, and names what it does not know', async () => {
    const duty = { every: DAY, name: 'test.asked', run: () => undefined };
    const leader = stand.scheduler(LOCKED, duty);
    await leader.scheduler.start();
    await leader.seen('duty.done', ({ name }) => name === 'test.asked');
    const other = stand.scheduler(LOCKED, duty);
    await other.scheduler.start();
    await other.seen('scheduler.tick');
    await other.scheduler.runNow('test.asked');
    await leader.seen('duty.done', ({ name }) => name === 'test.asked', 2);
    await leader.scheduler.runNow('test.asked');
    await leader.seen('duty.done', ({ name }) => name === 'test.asked', 3);
    expect(other.all('duty.started')).toEqual([]);
    await expect(other.scheduler.runNow('test.nobody')).rejects.toMatchObject({
      code: 'queue.unknown_duty',
      known: expect.arrayContaining(['test.asked', 'queue.depth']),
    });
  });

  it('S3: stop aborts the running duty, which is due at once for the next leader, and leaves no timer and no connection', async () => {
    let runs = 0;
    const duty = {
      every: DAY,
      name: 'test.stopped',
      run: ({ signal }: DutyContext) =>
        runs++ > 0
          ? undefined
          : new Promise((_resolve, reject) =>
              signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
            ),
    };
    const test = stand.scheduler(LOCKED, duty);
    await test.scheduler.start();
    await test.seen('duty.started', ({ name }) => name === 'test.stopped');
    await Promise.all([test.scheduler.stop(), test.scheduler.stop()]);
    expect(test.scheduler.isLeader).toBe(false);
    expect(test.events.slice(-2).map(({ type }) => type)).toEqual(['leader.released', 'scheduler.stopped']);
    expect(await test.seen('duty.failed')).toMatchObject({ code: 'queue.duty_stopped', retryMs: 0 });
    const [stopped] = (await test.scheduler.lastRuns()).filter(({ name }) => name === 'test.stopped');
    expect(stopped).toMatchObject({ error: { code: 'queue.duty_stopped' }, state: 'failed' });
    expect(stopped!.dueInMs).toBeLessThanOrEqual(0);
    const count = test.events.length;
    await test.close();
    expect(test.events).toHaveLength(count);
    await waitFor(async () => (await stand.db.backends()).length === 0, { what: 'every connection to be gone' });
    const next = stand.scheduler({}, duty);
    await next.scheduler.start();
    await next.seen('duty.done', ({ name }) => name === 'test.stopped');
  });

  it('S3: a duty that outlives the stop is named, and the stop does not wait for it', async () => {
    const never = gate();
    const test = stand.scheduler({ stopWaitMs: 50 }, { every: DAY, name: 'test.never', run: () => never.opened });
    await test.scheduler.start();
    await test.seen('duty.started', ({ name }) => name === 'test.never');
    await within(test.scheduler.stop(), 20_000, 'the stop');
    expect(await test.seen('scheduler.stopped')).toMatchObject({ abandoned: ['test.never'] });
    const [run] = await test.scheduler.lastRuns();
    expect(run).toBeDefined();
    // Started again, the scheduler leaves it alone until it has returned.
    await test.scheduler.start();
    await test.seen('leader.elected', undefined, 2);
    await test.seen('scheduler.tick', ({ isLeader }) => isLeader, 3);
    expect(test.all('duty.started', ({ name }) => name === 'test.never')).toHaveLength(1);
    never.open();
    await test.seen('duty.started', ({ name }) => name === 'test.never', 2);
  });

  it('S3: the run before, by whichever process, is told to the next', async () => {
    const told: (Date | null)[] = [];
    const duty = {
      every: '200ms',
      name: 'test.told',
      run: ({ lastStartedAt }: DutyContext) => void told.push(lastStartedAt),
    };
    const first = stand.scheduler({}, duty);
    await first.scheduler.start();
    await first.seen('duty.done', ({ name }) => name === 'test.told');
    await first.close();
    const second = stand.scheduler({}, duty);
    await second.scheduler.start();
    await second.seen('duty.done', ({ name }) => name === 'test.told');
    expect(told[0]).toBeNull();
    expect(told.at(-1)).toBeInstanceOf(Date);
  });
});
