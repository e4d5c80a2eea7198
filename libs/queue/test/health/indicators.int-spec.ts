import 'reflect-metadata';
import { pgPool } from '@holdfast/kernel';
import { createEmptyDatabase, createTestDatabase, TcpProxy, waitFor, type TestDatabase } from '@holdfast/testing';
import type { Provider } from '@nestjs/common';
import type { Pool } from 'pg';
import { JobStore } from '../../src/ports/job-store.js';
import {
  defineJob,
  JobHandler,
  JobQueue,
  type QueueEvent,
  QueueModule,
  type QueueModuleOptions,
  Runner,
  Scheduler,
  SilentReporter,
  type,
} from '../../src/index.js';
import { Gate } from '../runner.stand.js';
import { HealthApp } from './health.app.js';

const Work = defineJob('health.work', { payload: type<{ text: string }>() });
const CONNECTION = 'holdfast-health';

/** handling answers a provider with a handler that does this. */
function handling(run: () => Promise<void> = () => Promise.resolve()): Provider {
  @JobHandler(Work)
  class WorkHandler {
    run = run;
  }
  return WorkHandler;
}

describe('the health indicators of the queue, asked by terminus', () => {
  let db: TestDatabase;
  const opened: HealthApp[] = [];
  const proxies: TcpProxy[] = [];

  beforeAll(async () => (db = await createTestDatabase()));
  afterEach(async () => {
    for (const proxy of proxies) proxy.pass();
    for (const { app } of opened.splice(0)) await app.close();
    for (const proxy of proxies.splice(0)) await proxy.close();
  });
  afterAll(() => db.drop());

  async function start(
    options: Partial<QueueModuleOptions> & { pool?: Pool } = {},
    handler: Provider = handling(),
  ): Promise<HealthApp> {
    const { pool = db.pool({ connectionTimeoutMillis: 5_000, max: 5 }), ...others } = options;
    const queue = QueueModule.forRoot({
      database: pgPool(pool),
      reporter: new SilentReporter(),
      roles: ['run'],
      run: { poll: '100ms', slots: 2 },
      ...others,
    });
    const health = await HealthApp.start({ imports: [queue], providers: [handler] });
    opened.push(health);
    return health;
  }
  const proxied = async () => {
    const proxy = await TcpProxy.open(db.url);
    proxies.push(proxy);
    return proxy;
  };
  const until = async (health: HealthApp, wanted: Record<string, string>) => {
    let statuses: Record<string, string> = {};
    const asWanted = async () => {
      statuses = await health.statuses();
      return Object.entries(wanted).every(([key, status]) => statuses[key] === status);
    };
    await waitFor(asWanted, { what: `the health to be ${JSON.stringify(wanted)}` }).catch((error: Error) => {
      throw new Error(`${error.message} It was ${JSON.stringify(statuses)}.`, { cause: error });
    });
  };
  const probes = async () =>
    (await db.backends()).filter(({ application_name }) => application_name === CONNECTION).map(({ pid }) => pid);

  it('H1: a queue that works is up under each of its keys', async () => {
    const health = await start();
    const { body, http } = await health.ready();
    expect(http).toBe(200);
    expect(body).toMatchObject({
      details: {
        database: { status: 'up' },
        migrations: { status: 'up' },
        runner: { running: 0, slots: 2, status: 'up' },
      },
      status: 'ok',
    });
  });

  it('R19: the connection of the checks is part of the sum that the start says', async () => {
    const events: QueueEvent[] = [];
    await start({ reporter: { report: (event) => void events.push(event) } });
    const started = events.find((event) => event.type === 'runner.started');
    expect(started?.connections).toContainEqual({ connections: 1, role: 'health checks' });
  });

  it('K50: a database that is gone is down, in words without its address, and everything recovers by itself', async () => {
    const proxy = await proxied();
    const health = await start({ pool: db.pool({ connectionString: proxy.url, max: 5 }) });
    await until(health, { database: 'up', migrations: 'up', runner: 'up' });
    proxy.refuse();
    proxy.sever();
    // Whether the tables fit is remembered: it is the database that is down.
    await until(health, { database: 'down', migrations: 'up', runner: 'down' });
    const { body, http, tookMs } = await health.ready();
    expect(http).toBe(503);
    expect(tookMs).toBeLessThan(3_000);
    expect(JSON.stringify(body)).not.toMatch(/127\.0\.0\.1|postgres|5432/);
    expect(body.details['database']!.message).toMatch(/^No job can be written: .*\.$/);
    expect(body.details['runner']!.message).toMatch(/^The runner cannot look for work: /);
    proxy.pass();
    await until(health, { database: 'up', migrations: 'up', runner: 'up' });
  });

  it('H1: a frozen network is answered within the timeout, and the frozen connection is not used again', async () => {
    const proxy = await proxied();
    const health = await start({ pool: db.pool({ connectionString: proxy.url, max: 5 }) });
    await until(health, { database: 'up' });
    proxy.freeze();
    await until(health, { database: 'down' });
    for (let round = 0; round < 3; round++) {
      const { body, tookMs } = await health.ready();
      expect(body.details['database']).toMatchObject({ status: 'down' });
      expect(tookMs).toBeLessThan(4_000);
    }
    proxy.pass();
    await until(health, { database: 'up', runner: 'up' });
  });

  it('K33: a server that only reads is down for writes, and recovers without a restart', async () => {
    const health = await start();
    await until(health, { database: 'up', runner: 'up' });
    await db.adminQuery(`ALTER DATABASE "${db.name}" SET default_transaction_read_only = on`);
    await db.terminateBackends();
    try {
      await until(health, { database: 'down' });
      expect((await health.ready()).body.details['database']!.message).toMatch(/only reads.*25006/);
    } finally {
      await db.adminQuery('SET default_transaction_read_only = off');
      await db.adminQuery(`ALTER DATABASE "${db.name}" RESET default_transaction_read_only`);
    }
    // Nobody ends the connections that were made meanwhile: they stay read-only for ever.
    await until(health, { database: 'up', runner: 'up' });
  });

  it('K50: a loop that fails outside the database is down under its own key, and only there', async () => {
    const health = await start();
    const store = health.app.get(JobStore);
    const { claim } = store;
    // A store that answers what is no list of jobs: an error that no stage of the loop expects.
    store.claim = () => Promise.resolve(null as never);
    await health.app.get(JobQueue).enqueue(Work, { text: 'a' }, { in: 'own' });
    await until(health, { database: 'up', migrations: 'up', runner: 'down' });
    expect((await health.ready()).body.details['runner']!.message).toContain('the log says how');
    store.claim = claim;
    await until(health, { runner: 'up' });
  });

  it('K50: migrations that are missing are down under their own key, and named', async () => {
    const empty = await createEmptyDatabase();
    const health = await start({ database: pgPool(empty.pool({ max: 5 })), migrations: 'off' });
    await until(health, { database: 'up', migrations: 'down', runner: 'down' });
    const { details } = (await health.ready()).body;
    expect(details['migrations']).toMatchObject({
      code: 'migrate.pending',
      message: expect.stringContaining('0001') as string,
    });
    expect(details['runner']!.message).toContain('migrations have not been applied');
    await opened.pop()!.app.close();
    await empty.drop();
  });

  it('H1, R17: a runner that has not been started is down, and so is one that drains, until the end', async () => {
    const gate = new Gate();
    const health = await start(
      { autoStart: false },
      handling(() => gate.pass()),
    );
    expect(await health.statuses()).toMatchObject({ database: 'up', runner: 'down' });
    const runner = health.app.get(Runner);
    await runner.start();
    await until(health, { runner: 'up' });
    await health.app.get(JobQueue).enqueue(Work, { text: 'a' }, { in: 'own' });
    await gate.reached;
    const drained = runner.drain();
    const { body, http } = await health.ready();
    expect([http, body.details['runner']]).toMatchObject([
      503,
      { message: expect.stringContaining('draining') as string },
    ]);
    gate.open();
    await drained;
    expect(await health.statuses()).toMatchObject({ runner: 'down' });
  });

  it('K143: handlers that hold the whole pool: up, in time, and on one connection for all checks together', async () => {
    const gate = new Gate();
    let held = 0;
    const pool = db.pool({ connectionTimeoutMillis: 60_000, max: 2 });
    const health = await start(
      { pool },
      handling(async () => {
        held += 1;
        await gate.opened;
      }),
    );
    const jobs = health.app.get(JobQueue);
    for (const text of ['a', 'b', 'c']) await jobs.enqueue(Work, { text }, { in: 'own' });
    await waitFor(() => held === 2, { what: 'both slots to be taken' });
    const waiting = pool.query('SELECT 1');
    expect([pool.idleCount, pool.totalCount, pool.waitingCount]).toEqual([0, 2, 1]);
    await health.ready();
    const [pid] = await probes();
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => health.ready()));
      for (const { body, http, tookMs } of answers) {
        expect([http, body.status]).toEqual([200, 'ok']);
        expect(tookMs).toBeLessThan(3_000);
      }
    }
    expect((await health.ready()).body.details['runner']).toMatchObject({ running: 2, slots: 2, status: 'up' });
    expect(await probes()).toEqual([pid]);
    gate.open();
    await waiting;
  });

  it('K143: enqueues that wait on every control connection: the database is up, in time', async () => {
    const health = await start({ run: { poll: '1h', slots: 2 } });
    await until(health, { database: 'up', runner: 'up' });
    const blocker = await db.client();
    await blocker.query('BEGIN; LOCK TABLE holdfast.job IN ACCESS EXCLUSIVE MODE');
    const jobs = health.app.get(JobQueue);
    const enqueued = Array.from({ length: 8 }, (_, at) => jobs.enqueue(Work, { text: `${at}` }, { in: 'own' }));
    const blocked = `application_name = 'holdfast' AND wait_event_type = 'Lock'`;
    const count = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND ${blocked}`;
    await waitFor(async () => (await db.adminQuery(count)).length === 4, { what: 'every control connection to wait' });
    // Older than what is kept of the last answer.
    await waitFor(async () => (await db.adminQuery(`${count} AND query_start < now() - interval '1 s'`)).length === 4, {
      what: 'them to wait for a second',
    });
    const { body, tookMs } = await health.ready();
    expect(body.details).toMatchObject({ database: { status: 'up' }, runner: { status: 'up' } });
    expect(tookMs).toBeLessThan(3_000);
    await blocker.query('ROLLBACK');
    await Promise.all(enqueued);
  });

  it('K50: a leader that is absent is degraded under its own key, until another process leads', async () => {
    const roles = ['run', 'schedule'] as const;
    const health = await start({ roles, schedule: { leadership: 'never', tick: '100ms' } });
    await until(health, { database: 'up', leadership: 'degraded', runner: 'up' });
    const { body, http } = await health.ready();
    expect([http, body.status]).toEqual([200, 'degraded']);
    expect(body.details['leadership']).toMatchObject({
      leader: false,
      message: expect.stringMatching(/^No leader has been seen to act for \d+ s\.$/) as string,
    });
    const leader = await start({ roles, schedule: { leadership: 'advisory-lock', tick: '100ms' } });
    await until(leader, { leadership: 'up' });
    await until(health, { leadership: 'up' });
  });

  it('K50: a scheduler that has stopped is down under its own key', async () => {
    const health = await start({
      roles: ['run', 'schedule'],
      schedule: { leadership: 'advisory-lock', tick: '100ms' },
    });
    await until(health, { leadership: 'up', runner: 'up' });
    await health.app.get(Scheduler).stop();
    expect(await health.statuses()).toMatchObject({ leadership: 'down', runner: 'up' });
  });

  it('H1: due jobs that are older than the threshold make the runner degraded: 200, and the kind is named', async () => {
    const gate = new Gate();
    const health = await start(
      { run: { poll: '100ms', slots: 1 } },
      handling(() => gate.pass()),
    );
    const jobs = health.app.get(JobQueue);
    await jobs.enqueue(Work, { text: 'first' }, { in: 'own' });
    await gate.reached;
    const { id } = await jobs.enqueue(Work, { text: 'second' }, { in: 'own' });
    await db.adminQuery(`UPDATE holdfast.job SET due_at = now() - interval '20 minutes' WHERE id = $1`, [id]);
    const { body, http } = await health.ready();
    expect([http, body.status]).toEqual([200, 'degraded']);
    expect(body.details['runner']).toMatchObject({
      message: 'Jobs of the kind health.work have been due for 20 min.',
      status: 'degraded',
    });
    gate.open();
  });
});
