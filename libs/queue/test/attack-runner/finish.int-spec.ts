import { UnitOfWork, type Transaction } from '@holdfast/kernel';
import type { TestDatabase } from '@holdfast/testing';
import type { EntityManager } from 'typeorm';
import { defineJob } from '../../src/domain/definition.js';
import { done, refuse } from '../../src/domain/outcome.js';
import { type } from '../../src/domain/payload.schema.js';
import type { AttachedContext, DetachedContext } from '../../src/handlers/handler.interface.js';
import { eachStand } from '../each.stand.js';
import { emptied, Gate, RunnerStand, standDatabase } from '../runner.stand.js';

const options = { payload: type<object>(), backoff: { delays: ['1h'] } };
const Job = defineJob('test.job', options);
const Quick = defineJob('test.quick', { ...options, timeout: '200ms' });
const insert = (tx: Transaction, text: string) => tx.sql.query('INSERT INTO effect VALUES ($1)', [text]);

describe.each(['pg', 'typeorm'] as const)('A careless handler, on %s', (using) => {
  let db: TestDatabase;
  let stand: RunnerStand;

  eachStand((at) => void ({ db, stand } = at), { untilIdle: true, using });

  const run = async (definition: typeof Job | typeof Quick = Job) => {
    const runner = await stand.start();
    const id = await stand.enqueue(definition as typeof Job, {});
    runner.wake();
    return id;
  };

  it('R22: a finish that nobody awaited counts', async () => {
    stand.detached(Job, async (_job, ctx) => {
      void ctx.finish(async (tx) => {
        await insert(tx, 'a');
        return done({ outcome: 'sale.recorded' });
      });
      await Promise.resolve();
    });
    expect(await stand.seenOf('job.completed', await run())).toMatchObject({ outcome: 'sale.recorded' });
    expect(await stand.effects()).toEqual(['a']);
  });

  it('R22: a finish that nobody awaited, and that fails, fails the attempt: its writes are gone, so nothing is done', async () => {
    stand.detached(Job, async (_job, ctx) => {
      void ctx.finish(async (tx) => {
        await insert(tx, 'a');
        throw new RangeError('no');
      });
      await Promise.resolve();
    });
    const id = await run();
    expect((await stand.seenOf('job.retried', id)).error).toBeInstanceOf(RangeError);
    expect(await stand.job(id)).toMatchObject({ attempt: 1, state: 'PENDING' });
    expect(await stand.effects()).toEqual([]);
  });

  it('R4: a failing query that nobody awaited fails the attempt and does not end the process', async () => {
    stand.attached(Job, (_job, ctx) => {
      void ctx.tx.sql.query('SELECT 1/0');
      return Promise.resolve();
    });
    expect(await stand.seenOf('job.retried', await run())).toMatchObject({ code: 'kernel.transaction_aborted' });
  });

  it('R4: a query that comes late and that nobody awaited does not end the process', async () => {
    const settled = new Gate();
    const late = new Gate();
    stand.attached(Job, (_job, ctx) => {
      void settled.opened.then(() => {
        void insert(ctx.tx, 'late');
        setImmediate(late.open);
      });
      return Promise.resolve();
    });
    await stand.seenOf('job.completed', await run());
    settled.open();
    await late.opened;
    expect(await stand.effects()).toEqual([]);
  });

  it('R22: of two finishes, at once or one in the other, the first counts', async () => {
    let refused: unknown[] = [];
    stand.detached(Job, async (_job, ctx) => {
      const first = ctx.finish(async (tx) => {
        await insert(tx, 'first');
        refused.push(await ctx.finish(() => Promise.resolve(done())).catch((error: unknown) => error));
        return done();
      });
      refused.push(await ctx.finish((tx) => insert(tx, 'second').then(() => done())).catch((error: unknown) => error));
      await first;
      refused.push(await ctx.finish((tx) => insert(tx, 'third').then(() => done())).catch((error: unknown) => error));
      return refuse('sale.not_allowed');
    });
    const id = await run();
    await stand.seenOf('job.completed', id);
    expect(refused).toMatchObject(Array(3).fill({ code: 'queue.run_settled' }));
    refused = [];
    expect(await stand.effects()).toEqual(['first']);
    expect(await stand.job(id)).toMatchObject({ refusal: null, state: 'SUCCEEDED' });
  });

  it('R22: a finish inside a unit of work has a transaction of its own; a unit of work inside a finish joins it', async () => {
    const work = new UnitOfWork(stand.database);
    stand.detached(Job, async (_job, ctx) => {
      await work.run(async (tx) => {
        await insert(tx, 'around');
        await ctx.finish((inner) => work.run((joined) => insert(joined, String(joined === inner))).then(() => done()));
        throw new Error('too late');
      });
    });
    await stand.seenOf('job.completed', await run());
    expect(await stand.effects()).toEqual(['true']);
  });

  it.each(['before the finish', 'inside the finish'])(
    'R6: past its time, noticed %s, nothing is finished',
    async (at) => {
      const aborted = (signal: AbortSignal) => new Promise((resolve) => signal.addEventListener('abort', resolve));
      stand.detached(Quick, async (_job, ctx) => {
        if (at === 'before the finish') await aborted(ctx.signal);
        return ctx.finish(async (tx) => {
          await insert(tx, 'a');
          if (!ctx.signal.aborted) await aborted(ctx.signal);
          return done();
        });
      });
      expect(await stand.seenOf('job.retried', await run(Quick))).toMatchObject({ code: 'queue.timed_out' });
      expect(await stand.effects()).toEqual([]);
    },
  );

  it('R4, R22: a context that was kept is good for nothing after its run', async () => {
    let kept: DetachedContext | undefined;
    stand.detached(Job, (_job, ctx) => {
      kept = ctx;
      throw new Error('failed');
    });
    await stand.seenOf('job.retried', await run());
    const finished = kept!.finish((tx) => insert(tx, 'a').then(() => done()));
    await expect(finished).rejects.toMatchObject({ code: 'queue.run_settled' });
    await expect(kept!.hold()).rejects.toMatchObject({ code: 'queue.lease_lost' });
    expect(await stand.effects()).toEqual([]);
  });

  it('Q1, R4: an attached transaction that was kept is good for nothing after its run', async () => {
    let kept: AttachedContext | undefined;
    stand.attached(Job, (_job, ctx) => {
      kept = ctx;
      return Promise.resolve();
    });
    await stand.seenOf('job.completed', await run());
    const { hold, tx } = kept!;
    await expect(insert(tx, 'b')).rejects.toMatchObject({ code: 'kernel.transaction_settled' });
    await expect(stand.jobs.enqueue(Job, {}, { in: tx })).rejects.toMatchObject({ code: 'kernel.transaction_settled' });
    await expect(hold()).rejects.toMatchObject({ code: 'queue.lease_lost' });
    if (using === 'typeorm') {
      const { manager } = tx as unknown as { manager: EntityManager };
      await expect(manager.query(`INSERT INTO effect VALUES ('c')`)).rejects.toBeDefined();
      await expect(
        manager.transaction((inner) => inner.query(`INSERT INTO effect VALUES ('d')`)),
      ).rejects.toBeDefined();
      await expect(manager.queryRunner!.startTransaction()).rejects.toBeDefined();
      await expect(stand.jobs.enqueue(Job, {}, { in: manager })).rejects.toBeDefined();
    }
    expect(await stand.effects()).toEqual([]);
    expect(await db.adminQuery('SELECT FROM holdfast.job')).toHaveLength(1);
  });

  it('R13: a finish or a handler that answers what is no outcome fails', async () => {
    const answers: unknown[] = [1, 'x', null, [], { type: 'finished' }, { type: 'done', counts: { a: Infinity } }, { type: 'repeat', after: 'soon' }, { type: 'refuse', code: 'A b' }]; // prettier-ignore
    let next = 0;
    const Answer = defineJob('test.answer', options);
    const Finish = defineJob('test.finish', options);
    stand.attached(Answer, () => Promise.resolve(answers[next]) as never);
    stand.detached(Finish, (_job, ctx) => ctx.finish(() => Promise.resolve(answers[next]) as never));
    const runner = await stand.start();
    for (const _ of answers) {
      const ids = [await stand.enqueue(Answer, {}), await stand.enqueue(Finish, {})];
      runner.wake();
      for (const id of ids)
        expect(await stand.seenOf('job.retried', id)).toMatchObject({ code: 'queue.invalid_outcome' });
      next += 1;
    }
  });
});

describe('A careless handler with TypeORM', () => {
  let db: TestDatabase;
  beforeAll(async () => (db = await standDatabase()));
  beforeEach(() => emptied(db));
  afterAll(() => db.drop());

  it.each<[string, 'job.completed' | 'job.retried', (manager: EntityManager) => Promise<unknown>]>([
    ['releases the runner', 'job.completed', (manager) => manager.queryRunner!.release()],
    ['commits through the runner', 'job.retried', (manager) => manager.queryRunner!.commitTransaction()],
    ['rolls back through the runner', 'job.retried', (manager) => manager.queryRunner!.rollbackTransaction()],
    ['leaves a nested one open', 'job.completed', (manager) => manager.queryRunner!.startTransaction()],
    [
      'swallows an error in a nested one',
      'job.completed',
      (manager) => manager.transaction((inner) => inner.query('SELECT 1/0').catch(() => undefined)),
    ],
    ['swallows an error', 'job.retried', (manager) => manager.query('SELECT 1/0')],
  ])('R3, R4: one that %s', async (_, expected, act) => {
    const stand = await RunnerStand.open(db, { poolSize: 1, using: 'typeorm' });
    stand.attached(Job, async (_job, ctx) => {
      await insert(ctx.tx, 'a');
      await act((ctx.tx as unknown as { manager: EntityManager }).manager).catch(() => undefined);
    });
    const runner = await stand.start({ slots: 1 });
    const id = await stand.enqueue(Job, {});
    runner.wake();
    await stand.seenOf(expected, id);
    expect(await stand.effects()).toEqual(expected === 'job.completed' ? ['a'] : []);
    await stand.untilIdle();
    await stand.close();
  });
});
