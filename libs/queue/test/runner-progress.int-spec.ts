import { ControlConnections } from '@holdfast/kernel';
import { TcpProxy, waitFor, type TestDatabase } from '@holdfast/testing';
import { defineJob } from '../src/domain/definition.js';
import { done, refuse } from '../src/domain/outcome.js';
import { type } from '../src/domain/payload.schema.js';
import { PostgresJobs } from '../src/postgres/postgres.jobs.js';
import { emptied, Gate, RunnerStand, standDatabase, unhandledRejections, type StandOptions } from './runner.stand.js';
import { SCHEMA } from './store.harness.js';

const Attached = defineJob('progress.attached', {
  backoff: { delays: ['0ms'] },
  isolation: 'REPEATABLE READ',
  payload: type<object>(),
});
const Delayed = defineJob('progress.delayed', { backoff: { delays: ['1h'] }, payload: type<object>() });
const Detached = defineJob('progress.detached', { backoff: { delays: ['0ms'] }, payload: type<object>() });

describe('The progress of a run', () => {
  let connections: ControlConnections;
  let db: TestDatabase;
  let jobs: PostgresJobs;
  let stand: RunnerStand;
  const unhandled = unhandledRejections();

  const open = async (options: StandOptions = {}) => (stand = await RunnerStand.open(db, options));
  const progressOf = async (id: string) => (await jobs.find(id))?.progress;
  const until = (id: string, fraction: number) =>
    waitFor(async () => (await progressOf(id)) === fraction, { what: `a progress of ${fraction}` });

  beforeAll(async () => {
    db = await standDatabase();
    connections = new ControlConnections(
      { connectionString: db.url },
      { applicationName: 'look', deadlineMs: 20_000, max: 1 },
    );
    jobs = new PostgresJobs(connections, SCHEMA);
  });
  beforeEach(() => emptied(db));
  afterEach(async () => {
    await stand.untilIdle();
    await stand.close();
    expect(unhandled).toEqual([]);
  });
  afterAll(async () => {
    await connections.close();
    await db.drop();
  });

  it('R15, Q16: an attached handler under REPEATABLE READ is seen to get on while it runs, is not broken by its own reports, and ends with its last one', async () => {
    await open();
    const gate = new Gate();
    stand.attached(Attached, async (_job, ctx) => {
      await ctx.tx.sql.query(`INSERT INTO effect VALUES ('one')`);
      await ctx.report(0.25);
      await gate.pass();
      await ctx.report(0.5);
      await ctx.tx.sql.query(`INSERT INTO effect VALUES ('two')`);
      await ctx.report(0.75);
    });
    const runner = await stand.start();
    const id = await stand.enqueue(Attached, {});
    expect(await progressOf(id)).toBeNull();
    runner.wake();
    await gate.reached;
    await until(id, 0.25);
    expect(await stand.effects()).toEqual([]);
    gate.open();
    await stand.seenOf('job.completed', id);
    expect(await jobs.find(id)).toMatchObject({ attempt: 1, progress: 0.75, state: 'SUCCEEDED' });
    expect(await stand.effects()).toEqual(['one', 'two']);
    expect((await jobs.list({ kind: Attached.kind })).jobs).toMatchObject([{ id, progress: 0.75 }]);
    await jobs.delete(id);
    expect(await db.adminQuery('SELECT FROM holdfast.job_progress')).toEqual([]);
  });

  it('R15: what is rolled back with the handler is not what it reported; the next run begins without, and a job that never reports has none', async () => {
    await open();
    const gate = new Gate();
    let attempts = 0;
    stand.attached(Delayed, async (_job, ctx) => {
      attempts += 1;
      if (attempts === 2) return gate.pass();
      await ctx.report(0.5);
      throw new Error('failed');
    });
    const runner = await stand.start();
    const id = await stand.enqueue(Delayed, {});
    runner.wake();
    await stand.seenOf('job.retried', id);
    expect(await progressOf(id)).toBe(0.5);
    await jobs.runNow(id);
    runner.wake();
    await gate.reached;
    expect(await progressOf(id)).toBeNull();
    gate.open();
    await stand.seenOf('job.completed', id);
    expect(await jobs.find(id)).toMatchObject({ progress: null, state: 'SUCCEEDED' });
  });

  it.each(['finish', 'refuse'] as const)(
    'R15, R22: of a detached run that ends by %s the last report is there',
    async (how) => {
      await open();
      stand.detached(Detached, async (_job, ctx) => {
        for (const fraction of [0.1, 0.5, 0.9]) await ctx.report(fraction);
        return how === 'refuse' ? refuse('test.no') : ctx.finish(() => Promise.resolve(done()));
      });
      const runner = await stand.start();
      const id = await stand.enqueue(Detached, {});
      runner.wake();
      await stand.seenOf(how === 'refuse' ? 'job.refused' : 'job.completed', id);
      expect(await progressOf(id)).toBe(0.9);
    },
  );

  it("R15, K5: a lock on the job's row holds no report up", async () => {
    await open();
    const gate = new Gate();
    const second = new Gate();
    stand.detached(Detached, async (_job, ctx) => {
      await gate.pass();
      await ctx.report(0.5);
      await second.pass();
    });
    const runner = await stand.start();
    const id = await stand.enqueue(Detached, {});
    runner.wake();
    await gate.reached;
    const blocker = await db.client();
    await blocker.query(`BEGIN; SELECT FROM holdfast.job WHERE id = ${id} FOR UPDATE`);
    gate.open();
    await until(id, 0.5);
    await blocker.query('COMMIT');
    await blocker.end();
    second.open();
    await stand.seenOf('job.completed', id);
  });

  it('R15: 10,000 reports in a loop are a few statements, and whatever is reported ends no job', async () => {
    let statements = 0;
    await open({
      store: (store) => {
        const report = store.report.bind(store);
        store.report = (reports) => {
          statements += 1;
          return report(reports);
        };
        return store;
      },
    });
    stand.attached(Attached, async (_job, ctx) => {
      for (let n = 0; n < 10_000; n += 1) await ctx.report(n / 10_000);
      for (const odd of [Number.NaN, '0.1', undefined, {}] as number[]) await ctx.report(odd);
      await ctx.report(Infinity);
    });
    const runner = await stand.start();
    const id = await stand.enqueue(Attached, {});
    const startedAt = performance.now();
    runner.wake();
    await stand.seenOf('job.completed', id);
    expect(statements).toBeLessThanOrEqual(2 + (performance.now() - startedAt) / 1_000);
    expect(await progressOf(id)).toBe(1);
  });

  it.each(['freeze', 'refuse'] as const)(
    'R15: where control connections are cut off (%s) a handler goes on and commits; the report is told to have failed, and the job has none',
    async (how) => {
      const proxy = await TcpProxy.open(db.url);
      await open({ controlDeadlineMs: 1_500, controlUrl: proxy.url });
      const gate = new Gate();
      stand.attached(Attached, async (_job, ctx) => {
        await gate.pass();
        await ctx.report(0.5);
        await ctx.tx.sql.query(`INSERT INTO effect VALUES ('done')`);
      });
      const runner = await stand.start();
      const id = await stand.enqueue(Attached, {});
      runner.wake();
      await gate.reached;
      if (how === 'freeze') proxy.freeze('both');
      else {
        proxy.refuse();
        proxy.sever();
      }
      gate.open();
      await stand.seenOf('job.completed', id);
      await stand.seen('loop.failed', ({ stage }) => stage === 'progress');
      expect(await jobs.find(id)).toMatchObject({ attempt: 1, progress: null, state: 'SUCCEEDED' });
      expect(await stand.effects()).toEqual(['done']);
      proxy.pass();
      await runner.stop();
      await proxy.close();
    },
  );
});
