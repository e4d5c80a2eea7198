import { TcpProxy, type TestDatabase, within } from '@holdfast/testing';
import { defineJob } from '../src/domain/definition.js';
import { done } from '../src/domain/outcome.js';
import { type } from '../src/domain/payload.schema.js';
import { eachStand } from './each.stand.js';
import { Gate, RunnerStand } from './runner.stand.js';

const Write = defineJob('test.write', { payload: type<object>() });
const Call = defineJob('test.call', { payload: type<object>() });
const never = new Promise<never>(() => undefined);

describe('Runner.drain', () => {
  let db: TestDatabase;
  let stand: RunnerStand;

  eachStand((at) => void ({ db, stand } = at), { untilIdle: true });

  it('R17, K56: no new claim; running jobs end within the grace period, and may enqueue until their end', async () => {
    const gate = new Gate();
    stand.attached(Write, async () => {
      await gate.pass();
      await stand.jobs.enqueue(Write, {}, { runIn: '1h' });
    });
    const runner = await stand.start({ pollMs: 50 });
    const id = await stand.enqueue(Write, {});
    await gate.reached;
    const drained = runner.drain();
    await stand.seen('runner.draining');
    const left = await stand.enqueue(Write, {});
    runner.wake();
    gate.open();
    expect(await drained).toEqual({ abandoned: 0, givenBack: 0 });
    await stand.seenOf('job.completed', id);
    expect(await stand.job(left)).toMatchObject({ attempt: 0, state: 'PENDING' });
    expect(await db.adminQuery('SELECT FROM holdfast.job')).toHaveLength(3);
  });

  it('R17, K56: past the grace period an attached run is rolled back and its job is free at once, with its attempt', async () => {
    const gate = new Gate();
    let reason: unknown;
    stand.attached(Write, async (_job, ctx) => {
      await ctx.tx.sql.query(`INSERT INTO effect VALUES ('a')`);
      ctx.signal.addEventListener('abort', () => (reason = ctx.signal.reason));
      await gate.pass();
      await never;
    });
    const runner = await stand.start({ graceMs: 50 });
    const id = await stand.enqueue(Write, {});
    runner.wake();
    await gate.reached;
    const drained = runner.drain();
    expect(await stand.seenOf('job.given_back', id)).toMatchObject({ reason: 'shutdown' });
    expect(await drained).toEqual({ abandoned: 1, givenBack: 1 });
    expect(reason).toMatchObject({ code: 'queue.run_stopped' });
    expect(await stand.job(id)).toMatchObject({ attempt: 0, failures: null, state: 'PENDING' });
    expect(await stand.effects()).toEqual([]);
    const other = await RunnerStand.open(db);
    other.attached(Write, () => Promise.resolve());
    await other.start();
    await other.seenOf('job.completed', id);
    await other.close();
  });

  it('R17: a detached run that stops at its signal is given back; one that finishes its outside call is done', async () => {
    const [stops, finishes] = [new Gate(), new Gate()];
    stand.detached(Call, async (_job, ctx) => {
      stops.open();
      await new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason as Error)));
    });
    stand.detached(Write, async (_job, ctx) => {
      finishes.open();
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
      return ctx.finish(async (tx) => {
        await tx.sql.query(`INSERT INTO effect VALUES ('kept')`);
        return done();
      });
    });
    const runner = await stand.start({ graceMs: 50 });
    const [stopped, finished] = [await stand.enqueue(Call, {}), await stand.enqueue(Write, {})];
    runner.wake();
    await Promise.all([stops.opened, finishes.opened]);
    expect(await runner.drain()).toEqual({ abandoned: 0, givenBack: 1 });
    expect(await stand.job(stopped)).toMatchObject({ attempt: 0, state: 'PENDING' });
    expect(await stand.job(finished)).toMatchObject({ attempt: 1, state: 'SUCCEEDED' });
    expect(await stand.effects()).toEqual(['kept']);
  });

  it('R17: a detached handler that ignores its signal is given back after a moment, and cannot finish any more', async () => {
    const gate = new Gate();
    let late: Promise<unknown> | undefined;
    stand.detached(Call, async (_job, ctx) => {
      await gate.pass();
      late = ctx.finish(() => Promise.resolve());
      await late.catch(() => undefined);
    });
    const runner = await stand.start({ abortWaitMs: 50, graceMs: 50 });
    const id = await stand.enqueue(Call, {});
    runner.wake();
    await gate.reached;
    const drained = runner.drain();
    await stand.seenOf('job.given_back', id);
    expect(await drained).toEqual({ abandoned: 1, givenBack: 1 });
    gate.open();
    await runner.stop();
    await new Promise((resolve) => setImmediate(resolve));
    await expect(late).rejects.toMatchObject({ code: 'queue.run_settled' });
    expect(await stand.job(id)).toMatchObject({ attempt: 0, state: 'PENDING' });
  });

  it('R17: drain and stop are idempotent in any order, before the start and after it', async () => {
    stand.attached(Write, () => Promise.resolve());
    const runner = stand.runner();
    expect(await runner.drain()).toEqual({ abandoned: 0, givenBack: 0 });
    await runner.stop();
    await Promise.all([runner.start(), runner.start()]);
    await Promise.all([runner.drain(), runner.drain(), runner.stop(), runner.stop()]);
    await runner.stop();
    expect(stand.events.filter(({ type }) => type === 'runner.drained')).toHaveLength(1);
    await runner.start();
    const id = await stand.enqueue(Write, {});
    runner.wake();
    await stand.seenOf('job.completed', id);
  });

  it('R17: what a claim brings while the drain begins goes back with its attempt', async () => {
    const gate = new Gate();
    const slow = await RunnerStand.open(db, {
      store: (store) => {
        const claim = store.claim.bind(store);
        store.claim = async (order) => {
          const jobs = await claim(order);
          if (jobs.length > 0) await gate.pass();
          return jobs;
        };
        return store;
      },
    });
    slow.attached(Write, () => Promise.resolve());
    const id = await slow.enqueue(Write, {});
    const runner = await slow.start();
    await gate.reached;
    const drained = runner.drain();
    gate.open();
    expect(await drained).toEqual({ abandoned: 0, givenBack: 1 });
    expect(await slow.job(id)).toMatchObject({ attempt: 0, state: 'PENDING' });
    await slow.close();
  });

  it('R5, R17: what a claim has taken whose answer was lost goes back at the stop, not when its lease has run out', async () => {
    const proxy = await TcpProxy.open(db.url);
    const far = await RunnerStand.open(db, { controlDeadlineMs: 500, controlUrl: proxy.url });
    far.attached(Write, () => Promise.resolve());
    const runner = await far.start();
    await far.seen('claim.answered');
    const id = await stand.enqueue(Write, {});
    proxy.when({ act: (faulty) => faulty.freeze('answers'), text: 'claim-jobs' });
    runner.wake();
    await far.seen('loop.failed', ({ stage }) => stage === 'claim');
    proxy.pass();
    expect(await runner.drain()).toEqual({ abandoned: 0, givenBack: 0 });
    expect(await stand.job(id)).toMatchObject({ attempt: 0, state: 'PENDING' });
    await far.close();
    await proxy.close();
  });

  it.each(['frozen', 'away'] as const)(
    'R17: with the database %s an idle runner and a busy one end in bounded time',
    async (how) => {
      const proxy = await TcpProxy.open(db.url);
      const urls = { controlUrl: proxy.url, poolUrl: proxy.url };
      const [idle, busy] = [await RunnerStand.open(db, urls), await RunnerStand.open(db, urls)];
      idle.attached(Call, () => Promise.resolve());
      const gate = new Gate();
      busy.detached(Write, async () => gate.pass());
      const runners = [
        await idle.start({ graceMs: 300, pollMs: 100 }),
        await busy.start({ abortWaitMs: 100, graceMs: 300, pollMs: 100 }),
      ];
      const id = await stand.enqueue(Write, {});
      await gate.reached;
      if (how === 'away') {
        proxy.refuse();
        proxy.sever();
      } else proxy.freeze();
      await busy.seen('loop.failed');
      const stopped = Promise.all(runners.map((runner) => runner.stop()));
      await busy.seen('runner.draining');
      gate.open();
      // The grace, a moment to return, 5 s to record; the rest is the machine's.
      await within(stopped, 20_000, 'both to stop');
      await busy.seenOf('job.unrecorded', id, 20_000);
      expect(await busy.seen('runner.drained')).toMatchObject({ abandoned: 0 });
      expect(await stand.job(id)).toMatchObject({ attempt: 1, state: 'RUNNING' });
      await Promise.all([idle.close(), busy.close()]);
      await proxy.close();
    },
  );
});
