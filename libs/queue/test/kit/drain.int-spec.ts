import 'reflect-metadata';
import { pgPool } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import { Test, type TestingModule } from '@nestjs/testing';
import { createQueue, defineJob, type HoldfastQueue, JobQueue, repeat, type } from '../../src/index.js';
import { drain, DrainError, QueueTestingModule } from '../../src/testing/index.js';
import { emptied } from '../module/probe.js';
import { count, Mark, Pay, Ship, shop, Sweep, tables } from './kit.app.js';

describe('drain', () => {
  let app: TestingModule;
  let db: TestDatabase;
  let jobs: JobQueue;

  beforeAll(async () => {
    db = await createTestDatabase();
    await tables(db);
    const builder = Test.createTestingModule({ imports: [shop(pgPool(db.pool({ max: 5 })))] });
    app = await QueueTestingModule.override(builder).compile();
    await app.init();
    jobs = app.get(JobQueue, { strict: false });
  });
  beforeEach(async () => {
    await emptied(db);
    await db.adminQuery('TRUNCATE paid, shipped, marked');
  });
  afterAll(async () => {
    await app.close();
    await db.drop();
  });

  it('runs what is due with its follow-ups, and answers what ended how; what is due later stays', async () => {
    await jobs.enqueue(Pay, { order: 'A' }, { in: 'own' });
    await jobs.enqueue(Pay, { how: 'refuse', order: 'B' }, { in: 'own' });
    const { ended, travelledMs } = await drain(app);
    expect(ended.map(({ code, kind, result }) => [kind, result, code])).toEqual([
      ['order.pay', 'completed', 'order.paid'],
      ['order.pay', 'refused', 'order.unknown'],
      ['order.ship', 'completed', 'order.shipped'],
    ]);
    expect(travelledMs).toBe(0);
    expect(await db.adminQuery('SELECT kind FROM holdfast.job WHERE state = 0')).toEqual([{ kind: 'order.mark' }]);
    expect(await drain(app)).toEqual({ ended: [], travelledMs: 0 });
  });

  it('takes requests in, and a lease that ran out back', async () => {
    const { id } = await jobs.enqueue(Mark, { order: 'A' }, { dedupeKey: 'A', in: 'own' });
    await db.adminQuery(
      `UPDATE holdfast.job SET state = 1, attempt = 1, lease_token = gen_random_uuid(), lease_owner = 'gone', claimed_at = now(),
         lease_until = now() - interval '1 second' WHERE id = $1`,
      [id],
    );
    const again = await jobs.enqueue(Mark, { order: 'B' }, { dedupeKey: 'B', in: 'own' });
    await jobs.enqueue(Mark, { order: 'C' }, { dedupeKey: 'C', in: 'own', runIn: '1h' });
    await jobs.enqueue(Mark, { order: 'C' }, { dedupeKey: 'C', in: 'own' });
    const { ended } = await drain(app);
    expect(ended.map((job) => [job.id, job.attempt, job.result])).toEqual(
      expect.arrayContaining([
        [id, 2, 'completed'],
        [again.id, 1, 'completed'],
      ]),
    );
    expect((await db.adminQuery<{ id: string }>('SELECT id FROM marked ORDER BY id')).map((row) => row.id)).toEqual([
      'A',
      'B',
      'C',
    ]);
  });

  it('with travel time passes for waiting jobs in their order: retries up to the dead letter, follow-ups of later', async () => {
    await jobs.enqueue(Ship, { order: 'A' }, { in: 'own', runIn: '2h' });
    await jobs.enqueue(Pay, { how: 'bare', order: 'B' }, { in: 'own' });
    const day = await drain(app, { travel: '150m' });
    expect(day.ended.map(({ attempt, kind, result }) => [kind, attempt, result])).toEqual([
      ['order.pay', 1, 'retried'],
      ['order.pay', 2, 'retried'],
      ['order.pay', 3, 'dead_lettered'],
      ['order.ship', 1, 'completed'],
    ]);
    expect(day.travelledMs).toBeGreaterThan(119 * 60_000);
    expect(day.travelledMs).toBeLessThanOrEqual(120 * 60_000);
    const rest = await drain(app, { travel: 'all' });
    expect(rest.ended.map(({ kind }) => kind)).toEqual(['order.mark']);
  });

  it('ends with what is left when there are more runs than maxJobs: a poller would go on for ever', async () => {
    await jobs.enqueue(Sweep, { every: '10m' }, { in: 'own' });
    expect((await drain(app, { travel: '1h' })).ended).toHaveLength(7);
    const endless = drain(app, { maxJobs: 5, travel: 'all' });
    await expect(endless).rejects.toThrow(DrainError);
    await expect(endless).rejects.toMatchObject({
      ended: Array.from({ length: 5 }, () => expect.objectContaining({ result: 'repeated' })),
      left: [{ kind: 'order.sweep', state: 'PENDING' }],
      message:
        'Not everything was run with maxJobs: 5: 5 runs have ended (5 × order.sweep repeated), left are 1 jobs (1 × order.sweep PENDING).',
    });
  });

  it('runs as many at once as it is told, and ends at its deadline with what hangs', async () => {
    const Meet = defineJob('order.meet', { payload: type<object>() });
    const Hang = defineJob('order.hang', { payload: type<object>() });
    const queue: HoldfastQueue = createQueue({ database: pgPool(db.pool({ max: 3 })) });
    let here = 0;
    let all: () => void = () => undefined;
    const met = new Promise<void>((resolve) => (all = resolve));
    queue.handle(Meet, { run: () => (++here === 3 ? (all(), met) : met) });
    queue.handle(Hang, { run: () => new Promise(() => undefined) });
    await queue.jobs.enqueueMany(
      [1, 2, 3].map(() => Meet.request({})),
      { in: 'own' },
    );
    expect((await drain(queue, { concurrency: 3 })).ended).toHaveLength(3);
    await queue.jobs.enqueue(Hang, {}, { in: 'own' });
    await expect(drain(queue, { deadline: '300ms' })).rejects.toMatchObject({
      ended: [],
      left: [{ kind: 'order.hang', state: 'RUNNING' }],
    });
    await queue.close();
    expect(await count(db, "holdfast.job WHERE kind = 'order.hang' AND state = 0")).toBe(1);
  });

  it('stands beside a running runner, and takes nothing twice', async () => {
    const queue = createQueue({ database: pgPool(db.pool({ max: 12 })) });
    queue.handle(Mark, {
      run: async (job, ctx) => {
        await ctx.tx.sql.query('INSERT INTO marked VALUES ($1)', [job.payload.order]);
      },
    });
    queue.handle(Sweep, { run: () => Promise.resolve(repeat('1d')) });
    await queue.start();
    await queue.jobs.enqueueMany(
      Array.from({ length: 50 }, (_, at) => Mark.request({ order: String(at) })),
      { in: 'own' },
    );
    await drain(queue);
    await queue.close();
    expect(await count(db, 'marked')).toBe(50);
    expect(await count(db, 'holdfast.job WHERE state = 2 AND attempt = 1')).toBe(50);
  });
});
