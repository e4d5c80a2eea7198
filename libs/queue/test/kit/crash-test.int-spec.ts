import 'reflect-metadata';
import { type Database, pgPool } from '@holdfast/kernel';
import { typeOrm } from '@holdfast/kernel/typeorm';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import { createQueue, defineJob, done, type HoldfastQueue, type } from '../../src/index.js';
import { crashTest, CrashTestError, KitError } from '../../src/testing/index.js';
import { count } from './kit.app.js';

const Good = defineJob('account.good', { payload: type<{ n: number }>() });
const Outside = defineJob('account.outside', { payload: type<{ n: number }>(), maxAttempts: 1 });
const Before = defineJob('account.before', { payload: type<{ n: number }>() });
const Finish = defineJob('account.finish', { payload: type<{ n: number }>() });
const Total = defineJob('account.total', { payload: type<{ n: number }>() });

describe.each(['pg', 'typeorm'])('crashTest, on %s', (using) => {
  let database: Database;
  let db: TestDatabase;
  let queue: HoldfastQueue;
  let outside: (text: string) => Promise<unknown>;
  const warnings: Error[] = [];
  const warned = (warning: Error) => void warnings.push(warning);

  beforeAll(async () => {
    db = await createTestDatabase();
    await db.adminQuery('CREATE TABLE entry (n int); CREATE TABLE total (n int); INSERT INTO total VALUES (0)');
    process.on('warning', warned);
    if (using === 'pg') {
      // Without a listener for errors: what is killed must not end the process.
      const pool = db.pool({ listen: false, max: 4 });
      [database, outside] = [pgPool(pool), (text) => pool.query(text)];
    } else {
      const dataSource = await db.dataSource({ poolSize: 4 });
      [database, outside] = [typeOrm(dataSource), (text) => dataSource.query(text)];
    }
    queue = createQueue({ database, kinds: { 'account.good': { maxAttempts: 1 } } });
    queue.handle(Good, {
      run: async (_job, ctx) => {
        await ctx.tx.sql.query('SELECT 1', []);
        await ctx.tx.sql.query('INSERT INTO entry VALUES (1)', []);
      },
    });
    queue.handle(Outside, {
      run: async (_job, ctx) => {
        await outside('INSERT INTO entry VALUES (2)');
        await ctx.tx.sql.query('SELECT 1', []);
      },
    });
    queue.handle(Before, { run: () => Promise.resolve() });
    queue.handle(
      Finish,
      {
        run: (_job, ctx) =>
          ctx.finish(async (tx) => {
            await tx.sql.query('INSERT INTO entry VALUES (3)', []);
            return done();
          }),
      },
      { detached: true },
    );
    queue.handle(Total, {
      run: async (job, ctx) => {
        await ctx.tx.sql.query('UPDATE total SET n = n + $1', [job.payload.n]);
      },
    });
  });
  afterAll(async () => {
    process.removeListener('warning', warned);
    await queue.close();
    await db.drop();
  });

  const effect = () => count(db, 'entry');

  it('an attached handler survives a crash before each statement and after COMMIT', async () => {
    const { rounds, statements } = await crashTest(queue, Good, (n) => ({ n }), { effect });
    expect(statements.slice(0, 3)).toEqual([
      expect.stringMatching(/^BEGIN/),
      'SELECT 1',
      'INSERT INTO entry VALUES (1)',
    ]);
    expect(statements.at(-1)).toMatch(/COMMIT$/);
    expect(rounds.map(({ at }) => at.replace(/: .*/, ''))).toEqual([
      ...statements.map((_, place) => `before statement ${place + 1}`),
      'after COMMIT 1, before its answer',
    ]);
    expect(await count(db, 'holdfast.job WHERE state <> 2')).toBe(0);
    expect(warnings).toEqual([]);
  });

  it('so does a detached one with its finish, and an effect that is no number', async () => {
    await crashTest(queue, Finish, { n: 0 }, { effect });
    const total = async () => (await db.adminQuery('SELECT n FROM total'))[0];
    const reset = () => db.adminQuery('UPDATE total SET n = 5');
    await crashTest(queue, Total, { n: 7 }, { effect: total, reset });
    expect(await total()).toEqual({ n: 12 });
  });

  it('K115: finds a handler that writes outside its transaction, and the statements that break it', async () => {
    const failed = await crashTest(queue, Outside, { n: 0 }, { effect }).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failed).toBeInstanceOf(CrashTestError);
    const { message, rounds } = failed as CrashTestError;
    expect(message).toMatch(/^The handler of account\.outside does not survive \d of \d crashes\./);
    expect(message).toMatch(/before statement \d: SELECT 1: the effect is there 2 times, not 1/);
    expect(rounds.find(({ at }) => at.startsWith('before statement 1'))).toMatchObject({ problem: undefined });
    expect(rounds.at(-1)).toEqual({ at: 'after COMMIT 1, before its answer', problem: undefined });
  });

  it('says so when there is no effect to begin with; the pool is as it was', async () => {
    const nothing = crashTest(queue, Before, { n: 0 }, { effect });
    await expect(nothing).rejects.toThrow(KitError);
    await expect(nothing).rejects.toThrow(/Undisturbed, .* the effect is there 0 times, not 1/);
    await outside('SELECT 1');
    const open = await database.begin();
    await open.rollback();
  });
});
