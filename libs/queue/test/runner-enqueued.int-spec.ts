import { ControlConnections, pgPool, UnitOfWork } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase, waitFor, within } from '@holdfast/testing';
import type { Pool } from 'pg';
import { JobQueue } from '../src/client/job-queue.js';
import { createQueue, defineJob, type HoldfastQueue, type } from '../src/core.js';
import { PostgresJobStore } from '../src/postgres/postgres.job-store.js';
import { untilState } from './module/probe.js';
import { SCHEMA } from './store.harness.js';

const First = defineJob('chain.first', { payload: type<object>() });
const Second = defineJob('chain.second', { payload: type<object>() });
const Third = defineJob('chain.third', { payload: type<{ last?: boolean }>() });

describe('What a process commits and runs itself', () => {
  let db: TestDatabase;
  let queue: HoldfastQueue;
  let looked: Promise<void>;

  beforeAll(async () => (db = await createTestDatabase()));
  afterEach(() => queue.close());
  afterAll(() => db.drop());

  const start = async () => {
    let first: () => void = () => undefined;
    looked = new Promise((resolve) => (first = resolve));
    const reporter = { report: ({ type }: { type: string }) => void (type === 'claim.answered' && first()) };
    queue = createQueue({ database: pgPool(db.pool()), reporter, run: { poll: '1h' } });
    queue
      .handle(First, { run: async () => void (await queue.jobs.enqueue(Second, {})) })
      .handle(
        Second,
        {
          run: (_job, ctx) =>
            ctx.finish(async () => {
              await queue.jobs.enqueue(Third, {}, { dedupeKey: 'third' });
            }),
        },
        { detached: true },
      )
      .handle(Third, {
        run: async (job) => {
          if (!job.payload.last) await queue.jobs.enqueue(Third, { last: true });
        },
      });
    await queue.start();
    // Nothing is looked for by itself for an hour from now on.
    await within(looked, 10_000, 'the first look');
  };
  const done = (kind: string, count = 1) =>
    waitFor(
      async () =>
        (await db.adminQuery(`SELECT FROM holdfast.job WHERE kind = '${kind}' AND state = 2`)).length === count,
      { what: `${count} of ${kind}` },
    );

  it('R18: runs without waiting for a poll: from a unit of work, and on through attached handlers and ctx.finish', async () => {
    await start();
    const { id } = await queue.unitOfWork.run(() => queue.jobs.enqueue(First, {}));
    await untilState(db, id, 'SUCCEEDED');
    await done(Second.kind);
    await done(Third.kind, 2);
  });

  it("R18: so does what { in: 'own' } commits", async () => {
    await start();
    const { id } = await queue.jobs.enqueue(Third, { last: true }, { in: 'own' });
    await untilState(db, id, 'SUCCEEDED');
  });
});

describe('JobQueue', () => {
  let db: TestDatabase;
  let jobs: JobQueue;
  let pool: Pool;
  let store: PostgresJobStore;
  let told: number;

  beforeAll(async () => {
    db = await createTestDatabase();
    pool = db.pool();
    const config = { connectionString: db.url };
    store = new PostgresJobStore({
      connections: new ControlConnections(config, { applicationName: 'holdfast', deadlineMs: 5_000, max: 2 }),
      keeper: new ControlConnections(config, { applicationName: 'keeper', deadlineMs: 5_000, max: 1 }),
      schema: SCHEMA,
    });
    jobs = new JobQueue({
      database: pgPool(pool),
      enqueued: () => (told += 1),
      maxAttemptsOf: () => undefined,
      payloadLimitBytes: 1_000,
      store,
      tenancy: false,
    });
  });
  beforeEach(() => (told = 0));
  afterAll(async () => {
    await store.close();
    await db.drop();
  });

  it('R18: tells once of a transaction that committed, and not before', async () => {
    await new UnitOfWork(pgPool(pool)).run(async (tx) => {
      await jobs.enqueue(First, {});
      await jobs.enqueue(First, {}, { in: tx });
      await jobs.enqueueMany([Second.request({}), Second.request({})]);
      expect(told).toBe(0);
    });
    expect(told).toBe(1);
    await jobs.enqueueMany([Second.request({}), Second.request({})], { in: 'own' });
    expect(told).toBe(2);
  });

  it('Q1, R18: tells nothing of one that rolled back, of what is due later, and of transactions of other tools', async () => {
    const failing = new UnitOfWork(pgPool(pool)).run(async () => {
      await jobs.enqueue(First, {});
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await new UnitOfWork(pgPool(pool)).run(() => jobs.enqueue(First, {}, { runIn: '1h' }));
    const client = await pool.connect();
    await client.query('BEGIN');
    await jobs.enqueue(First, {}, { in: client });
    await client.query('COMMIT');
    client.release();
    expect(told).toBe(0);
  });
});
