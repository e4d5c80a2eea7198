import 'reflect-metadata';
import { type Database, pgPool } from '@holdfast/kernel';
import { createTestDatabase, PgBouncer, type TestDatabase, waitFor } from '@holdfast/testing';
import { Injectable, type ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { Pool } from 'pg';
import {
  type Candidate,
  defineJob,
  type EventOf,
  EventStream,
  JobQueue,
  LeaderDuty,
  Leadership,
  LeadershipHealthIndicator,
  OnJobEvent,
  type QueueEvent,
  QueueModule,
  type QueueModuleOptions,
  Scheduler,
  type,
} from '../../src/index.js';
import { stateOf } from './probe.js';

const TICK_MS = 1_000;
const Send = defineJob('mail.send', { payload: type<object>() });

/** Feeds stands for two names of the application's own. */
@Injectable()
class Feeds {
  readonly candidates: readonly Candidate[];

  constructor(leadership: Leadership) {
    this.candidates = ['price-feed', 'news-feed'].map((name) => leadership.candidate(name, { tickMs: TICK_MS }));
  }
}

@Injectable()
class Watch {
  readonly heard: string[] = [];

  @LeaderDuty({ name: 'report.sweep', every: '1d' })
  sweep(): void {
    this.heard.push('swept');
  }

  @OnJobEvent('leader.elected')
  elected({ name }: EventOf<'leader.elected'>): void {
    this.heard.push(`elected ${name}`);
  }

  @OnJobEvent('leader.released')
  released({ name }: EventOf<'leader.released'>): void {
    this.heard.push(`released ${name}`);
  }

  @OnJobEvent('duty.done')
  done({ name }: EventOf<'duty.done'>): void {
    if (name === 'report.sweep') this.heard.push(`done ${name}`);
  }
}

describe('Leadership in applications', () => {
  let database: Database;
  let db: TestDatabase;
  const opened: TestingModule[] = [];

  const start = async (options: Partial<QueueModuleOptions>, metadata: ModuleMetadata = {}) => {
    const events = new EventStream();
    const told: QueueEvent[] = [];
    events.subscribe((event) => told.push(event));
    const given = {
      database,
      reporter: events,
      roles: ['schedule'],
      schedule: { tickMs: TICK_MS },
      ...options,
    } as const;
    const module = { ...metadata, imports: [QueueModule.forRoot(given)] };
    const app = await Test.createTestingModule(module).compile();
    app.useLogger(false);
    opened.push(app);
    await app.init();
    return { app, events, told };
  };
  /** The sessions of leaders, each with the number of locks that it holds. */
  const sessions = () =>
    db.adminQuery<{ locks: number }>(
      `SELECT count(l.pid)::int AS locks FROM pg_stat_activity a LEFT JOIN pg_locks l
         ON l.pid = a.pid AND l.locktype = 'advisory' AND l.granted
       WHERE a.application_name = 'holdfast-leader' AND a.datname = current_database() GROUP BY a.pid`,
    );

  beforeAll(async () => {
    db = await createTestDatabase();
    database = pgPool(db.pool());
  });
  afterEach(async () => {
    for (const app of opened.splice(0)) await app.close();
    await db.adminQuery('TRUNCATE holdfast.leader_duty');
  });
  afterAll(() => db.drop());

  it('L1: names of the application’s own share the connection of the scheduler, and end with the application', async () => {
    const { app } = await start({}, { providers: [Feeds] });
    await waitFor(() => app.get(Scheduler).isLeader, { what: 'the scheduler to lead' });
    const { candidates } = app.get(Feeds);
    for (const candidate of candidates) expect(await candidate.acquire()).toBe(true);
    expect(await sessions()).toEqual([{ locks: 3 }]);
    expect(app.get(Leadership).connections).toEqual({ leadership: 1 });

    const { app: other } = await start({}, { providers: [Feeds] });
    for (const candidate of other.get(Feeds).candidates) expect(await candidate.acquire()).toBe(false);
    await candidates[0]!.release();
    expect(await other.get(Feeds).candidates[0]!.acquire()).toBe(true);
    // Giving one name up leaves the others.
    expect(candidates[1]!.isLeader && app.get(Scheduler).isLeader).toBe(true);

    await app.close();
    expect(candidates.map(({ isLeader }) => isLeader)).toEqual([false, false]);
    expect(await other.get(Feeds).candidates[1]!.acquire()).toBe(true);
    await other.close();
    expect(await sessions()).toEqual([]);
  });

  it('S3, R20: a process that runs no jobs hears of its duties and its leadership too, to the end', async () => {
    const { app } = await start({}, { providers: [Watch] });
    const { heard } = app.get(Watch);
    await waitFor(() => heard.includes('done report.sweep'), { what: 'the duty to be told' });
    await app.close();
    const scheduler = 'holdfast.scheduler';
    expect(heard).toEqual([`elected ${scheduler}`, 'swept', 'done report.sweep', `released ${scheduler}`]);
  });

  it('S1: autoStart: false leaves the start of the scheduler to the application', async () => {
    const { app, events, told } = await start({ autoStart: false });
    expect([told, await sessions()]).toEqual([[], []]);
    const elected = events.next('leader.elected', { withinMs: 20_000 });
    await app.get(Scheduler).start();
    await elected;
  });

  describe('behind a pooler in transaction mode', () => {
    let pooler: PgBouncer;
    let pool: Pool;

    beforeAll(async () => {
      pooler = await PgBouncer.start(db.url, { poolMode: 'transaction', poolSize: 5 });
      pool = new Pool({ connectionString: pooler.url, max: 3 });
      pool.on('error', () => undefined);
    });
    afterAll(async () => {
      await pool.end();
      await pooler.close();
    });
    const behind = () => ({ database: pgPool(pool), preparedStatements: false });

    it('L4: leads nobody, says once what to do, and jobs are enqueued all the same', async () => {
      const { app, told } = await start(behind());
      const failures = () => told.filter(({ type: name }) => name === 'scheduler.failed').length;
      await waitFor(() => failures() >= 3, { what: 'three tries' });
      const refused = told.filter(({ type: name }) => name === 'leader.refused');
      expect(refused).toEqual([expect.objectContaining({ name: 'holdfast.scheduler' })]);
      expect((refused[0] as EventOf<'leader.refused'>).error).toMatchObject({
        code: 'queue.pooler',
        message: expect.stringContaining('directUrl'),
      });
      expect(app.get(Scheduler).isLeader).toBe(false);
      expect(await app.get(LeadershipHealthIndicator).check('leadership')).toMatchObject({
        leadership: { message: expect.stringMatching(/cannot lead.*pooler/), status: 'degraded' },
      });
      const { id } = await app.get(JobQueue).enqueue(Send, {}, { in: 'own' });
      expect(await stateOf(db, id)).toBe('PENDING');
      expect(await db.adminQuery('SELECT 1 FROM holdfast.leader_duty')).toEqual([]);
    });

    it('L4: leads by directUrl, against those who go straight to the server', async () => {
      const { app, told } = await start({ ...behind(), directUrl: db.url });
      await waitFor(() => app.get(Scheduler).isLeader, { what: 'the one behind the pooler to lead' });
      const straight = await start({});
      await straight.events.next('scheduler.tick', { withinMs: 20_000 });
      expect(straight.app.get(Scheduler).isLeader).toBe(false);
      expect(told.filter(({ type: name }) => name === 'leader.refused')).toEqual([]);
    });
  });
});
