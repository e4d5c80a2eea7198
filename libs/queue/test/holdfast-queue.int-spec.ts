import { pgPool } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import {
  createQueue,
  defineJob,
  done,
  DuplicateHandlerError,
  type HoldfastQueue,
  InvalidHandlerError,
  InvalidQueueOptionsError,
  NotADefinitionError,
  QueueClosedError,
  type RunnerEvent,
  type,
} from '../src/core.js';
import { untilState } from './module/probe.js';

const Add = defineJob('sum.add', { payload: type<{ amount: number }>() });
const Tell = defineJob('sum.tell', { payload: type<{ total: number }>() });

describe('createQueue', () => {
  let db: TestDatabase;
  let queue: HoldfastQueue;

  beforeAll(async () => {
    db = await createTestDatabase();
    await db.adminQuery('CREATE TABLE total (amount int)');
    await db.adminQuery('INSERT INTO total VALUES (0)');
  });
  afterAll(() => db.drop());
  afterEach(() => queue.close());

  it('is a queue without Nest: handlers, a transaction for producers, and the state of a job', async () => {
    queue = createQueue({ database: pgPool(db.pool()), run: { slots: 2 } });
    const told: number[] = [];
    queue
      .handle(Add, {
        run: async (job, ctx) => {
          const { rows } = await ctx.tx.sql.query<{ amount: number }>(
            'UPDATE total SET amount = amount + $1 RETURNING amount',
            [job.payload.amount],
          );
          await queue.jobs.enqueue(Tell, { total: rows[0]!.amount });
        },
      })
      .handle(
        Tell,
        {
          run: async (job, ctx) => {
            told.push(job.payload.total);
            return ctx.finish(async () => Promise.resolve(done({ outcome: 'total.told' })));
          },
        },
        { detached: true },
      );
    await queue.start();
    const { id } = await queue.unitOfWork.run(() => queue.jobs.enqueue(Add, { amount: 5 }));
    await untilState(db, id, 'SUCCEEDED');
    const [tell] = await db.adminQuery<{ id: string }>('SELECT id::text FROM holdfast.job WHERE kind = $1', [
      Tell.kind,
    ]);
    await untilState(db, tell!.id, 'SUCCEEDED');
    expect(told).toEqual([5]);
    expect(await queue.lookup.find(tell!.id)).toMatchObject({ attempt: 1, outcome: 'total.told', state: 'SUCCEEDED' });
  });

  it('a producer alone prepares and closes, twice if need be', async () => {
    queue = createQueue({ database: pgPool(db.pool()) });
    await queue.prepare();
    await queue.jobs.enqueue(Add, { amount: 1 }, { in: 'own' });
    await Promise.all([queue.close(), queue.close()]);
    await expect(queue.jobs.enqueue(Add, { amount: 1 }, { in: 'own' })).rejects.toThrow();
  });

  it('refuses a second handler of a kind, and one that does not fit does not compile', () => {
    queue = createQueue({ database: pgPool(db.pool()) });
    queue.handle(Add, { run: async () => Promise.resolve() });
    expect(() => queue.handle(Add, { run: async () => Promise.resolve() })).toThrow(DuplicateHandlerError);
    // @ts-expect-error -- finish is of detached handlers
    queue.handle(Tell, { run: async (_job, ctx) => ctx.finish(async () => Promise.resolve()) });
    // @ts-expect-error -- the payload of another definition
    void (() => queue.jobs.enqueue(Add, { total: 1 }));
    // @ts-expect-error -- no such option
    void (() => queue.jobs.enqueue(Add, { amount: 1 }, { delay: 5 }));
    // @ts-expect-error -- a request has its options already
    void (() => queue.jobs.enqueue(Add.request({ amount: 1 }), { priority: 1 }));
  });

  it('after its close it takes nothing more, and says so', async () => {
    queue = createQueue({ database: pgPool(db.pool()) });
    queue.handle(Add, { run: async () => Promise.resolve() });
    await queue.close();
    for (const asked of [queue.start(), queue.prepare(), queue.jobs.enqueue(Add, { amount: 1 }, { in: 'own' })])
      await expect(asked).rejects.toThrow(QueueClosedError);
  });

  it('refuses what is no handler, where it is named', async () => {
    queue = createQueue({ database: pgPool(db.pool()) });
    const handle = queue.handle.bind(queue) as (...given: unknown[]) => unknown;
    const run = async () => Promise.resolve();
    expect(() => handle(undefined, { run })).toThrow(NotADefinitionError);
    expect(() => handle(Add, run)).toThrow(InvalidHandlerError);
    expect(() => handle(Add, { run }, { detach: true })).toThrow('detach is no option of a handler');
    queue.handle(Add, { run });
    await queue.start();
    expect(() => queue.handle(Tell, { run })).toThrow(/before start\(\)/);
  });

  it.each([
    [{ only: ['sum.add', 'sum.ad'] }, 'The option run.only names kinds without a handler here: sum.ad.'],
    [{ except: ['sum.ad'] }, 'The option run.except leaves out kinds without a handler here: sum.ad.'],
  ])('warns at the start of names whose kind has no handler here: %j', async (run, warning) => {
    const warnings: string[][] = [];
    const report = (event: RunnerEvent) => void (event.type === 'runner.started' && warnings.push([...event.warnings]));
    const kinds = { 'sum.add': { timeout: '5s' }, 'sum.addd': { timeout: '9s' } };
    queue = createQueue({ database: pgPool(db.pool({ max: 12 })), kinds, reporter: { report }, run });
    queue.handle(Add, { run: async () => Promise.resolve() });
    await queue.start();
    expect(warnings).toEqual([['The option kinds changes kinds without a handler here: sum.addd.', warning]]);
  });

  it('a producer that never prepared is told to migrate, where the tables are missing', async () => {
    queue = createQueue({ database: pgPool(db.pool()), schema: 'not_there' });
    const { jobs, unitOfWork } = queue;
    for (const options of [{}, { dedupeKey: 'k' }]) {
      const ways = [
        () => unitOfWork.run(() => jobs.enqueue(Add, { amount: 1 }, options)),
        () => jobs.enqueue(Add, { amount: 1 }, { ...options, in: 'own' }),
      ];
      for (const ask of ways)
        await expect(ask()).rejects.toMatchObject({
          code: 'migrate.pending',
          message: expect.stringContaining('not_there') as unknown,
        });
    }
  });

  it('refuses bad options at once, and opens nothing', () => {
    expect(() => createQueue({ database: pgPool(db.pool()), payloadLimitBytes: -1 })).toThrow(InvalidQueueOptionsError);
  });
});
