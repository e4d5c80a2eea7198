import { waitFor, type TestDatabase } from '@holdfast/testing';
import { defineJob } from '../src/domain/definition.js';
import { done, refuse } from '../src/domain/outcome.js';
import { type } from '../src/domain/payload.schema.js';
import type { DetachedContext, Finished } from '../src/handlers/handler.interface.js';
import { emptied, Gate, RunnerStand, standDatabase, unhandledRejections } from './runner.stand.js';

const Call = defineJob('test.call', { payload: type<{ n: number }>(), backoff: { delays: ['0ms'] } });
const Short = defineJob('test.short', { payload: type<object>(), backoff: { delays: ['1h'] }, timeout: '300ms' });

/** untilAborted resolves with the reason of the signal. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<Error>((resolve) => signal.addEventListener('abort', () => resolve(signal.reason as Error)));

describe('The lease and the time of a run', () => {
  let db: TestDatabase;
  let stand: RunnerStand;
  const unhandled = unhandledRejections();

  beforeAll(async () => (db = await standDatabase()));
  beforeEach(async () => {
    await emptied(db);
    stand = await RunnerStand.open(db);
  });
  afterEach(async () => {
    await stand.untilIdle();
    await stand.close();
    expect(unhandled).toEqual([]);
  });
  afterAll(() => db.drop());

  it('R6, K26: an attached run past its time is destroyed and recorded at once; its slot stays taken until the handler returns', async () => {
    const gate = new Gate();
    let reason: Error | undefined;
    stand.attached(Short, async (_job, ctx) => {
      await ctx.tx.sql.query(`INSERT INTO effect VALUES ('late')`);
      reason = await untilAborted(ctx.signal);
      await expect(ctx.tx.sql.query(`INSERT INTO effect VALUES ('later')`)).rejects.toThrow();
      await gate.pass();
    });
    const runner = await stand.start({ overrunMs: 50, slots: 1 });
    const id = await stand.enqueue(Short, {});
    runner.wake();
    expect(await stand.seenOf('job.retried', id)).toMatchObject({ code: 'queue.timed_out' });
    await gate.reached;
    expect(reason).toMatchObject({ code: 'queue.timed_out' });
    expect(await stand.job(id)).toMatchObject({ attempt: 1, state: 'PENDING' });
    expect(await stand.effects()).toEqual([]);
    expect(runner.running).toBe(1);
    expect(await stand.seenOf('job.overrun', id)).toMatchObject({ returned: false });
    gate.open();
    expect(await stand.seenOf('job.overrun', id)).toMatchObject({ returned: true });
    await waitFor(() => runner.running === 0, { what: 'the slot to be free' });
    expect(await db.backends().then((all) => all.filter(({ state }) => state.startsWith('idle in')))).toEqual([]);
  });

  it('R6: a statement that runs past the time is cancelled at the server', async () => {
    stand.attached(Short, async (_job, ctx) => void (await ctx.tx.sql.query('SELECT pg_sleep(30)')));
    const runner = await stand.start();
    const id = await stand.enqueue(Short, {});
    runner.wake();
    await stand.seenOf('job.retried', id, 2_500);
    const sleeping = () =>
      db.backends().then((all) => all.every(({ query, state }) => state !== 'active' || !query.includes('pg_sleep')));
    await waitFor(sleeping, { deadlineMs: 3_000, what: 'the statement to end' });
    await waitFor(() => runner.running === 0, { what: 'the slot to be free' });
  });

  it('R6: a detached run past its time is recorded when its handler has returned, and not before', async () => {
    const gate = new Gate();
    stand.detached(Short, async (_job, ctx) => {
      await untilAborted(ctx.signal);
      await gate.pass();
    });
    const runner = await stand.start();
    const id = await stand.enqueue(Short, {});
    runner.wake();
    await gate.reached;
    expect(await stand.job(id)).toMatchObject({ attempt: 1, state: 'RUNNING' });
    gate.open();
    expect(await stand.seenOf('job.retried', id)).toMatchObject({ code: 'queue.timed_out' });
  });

  it('R6, R7: past its time a lease is not renewed any more: another may have the job, and the late one changes nothing', async () => {
    const gate = new Gate();
    let runs = 0;
    stand.detached(Short, async (_job, ctx) => {
      runs += 1;
      if (runs > 1) return;
      await untilAborted(ctx.signal);
      await gate.pass();
    });
    await stand.start({ leases: { detachedMs: 600 }, pollMs: 100, slots: 1 });
    const id = await stand.enqueue(Short, {});
    await gate.reached;
    const other = await stand.start({ leases: { detachedMs: 600 }, pollMs: 100 });
    await stand.seenOf('job.completed', id);
    gate.open();
    await stand.seenOf('job.lost', id);
    expect(await stand.job(id)).toMatchObject({ attempt: 2, state: 'SUCCEEDED' });
    await other.stop();
  });

  it('R7, K5: a handler that locks its own job row for three leases delays no renewal, neither its own nor those of ten others', async () => {
    const gate = new Gate();
    let waiting = 0;
    const renewals: number[] = [];
    stand.detached(Call, async (job, ctx) => {
      if (job.payload.n === 0) {
        return ctx.finish(async (tx) => {
          await tx.sql.query('SELECT FROM holdfast.job WHERE id = $1 FOR UPDATE', [job.id]);
          await gate.pass();
        });
      }
      waiting += 1;
      await gate.opened;
      return undefined;
    });
    const ids = await Promise.all(Array.from({ length: 11 }, (_, n) => stand.enqueue(Call, { n })));
    const runner = await stand.start({ leases: { detachedMs: 900 }, pollMs: 100, slots: 11 });
    runner.events.subscribe((event) => event.type === 'lease.renewed' && renewals.push(event.leases));
    const startedAt = performance.now();
    await gate.reached;
    await waitFor(() => waiting === 10 && performance.now() - startedAt > 2_700, { what: 'three leases to pass' });
    gate.open();
    for (const id of ids) await stand.seenOf('job.completed', id);
    expect(renewals.filter((leases) => leases === 11).length).toBeGreaterThanOrEqual(6);
    for (const id of ids) expect(await stand.job(id)).toMatchObject({ attempt: 1, state: 'SUCCEEDED' });
  });

  it('R7, K108: when a renewal finds the lease gone the signal aborts, and the first run cannot record its outcome', async () => {
    const begun = new Gate();
    let reason: Error | undefined;
    stand.detached(Call, async (job, ctx) => {
      if (job.attempt > 1) return done({ outcome: 'test.second' });
      begun.open();
      reason = await untilAborted(ctx.signal);
      return done({ outcome: 'test.first' });
    });
    const first = await stand.start({ leases: { detachedMs: 1_200 } });
    const id = await stand.enqueue(Call, { n: 0 });
    first.wake();
    await begun.opened;
    const other = await stand.start({ leases: { detachedMs: 1_200 } });
    await db.adminQuery(`UPDATE holdfast.job SET lease_until = now() - interval '1s' WHERE id = $1`, [id]);
    await db.adminQuery('DELETE FROM holdfast.job_renewal WHERE job_id = $1', [id]);
    other.wake();
    await stand.seenOf('job.completed', id);
    await stand.seenOf('job.lost', id);
    expect(reason).toMatchObject({ code: 'queue.lease_lost' });
    expect(await stand.job(id)).toMatchObject({ attempt: 2, outcome: 'test.second', state: 'SUCCEEDED' });
  });

  it('K110: a handler that blocks the event loop past its time is timed out, and told how late it was noticed', async () => {
    stand.attached(Short, (job) => {
      if (job.attempt > 1) return Promise.resolve();
      const until = performance.now() + 1_600;
      while (performance.now() < until);
      return Promise.resolve();
    });
    const runner = await stand.start({ leases: { attachedMarginMs: 400, boundMarginMs: 100, detachedMs: 1_500 } });
    const id = await stand.enqueue(Short, {});
    runner.wake();
    const { error } = await stand.seenOf('job.retried', id);
    expect(error).toMatchObject({ code: 'queue.timed_out' });
    expect((error as Error).message).toMatch(/event loop was blocked/);
    await stand.seen('process.blocked');
  });
});

describe('R22: ctx.finish', () => {
  let db: TestDatabase;
  let stand: RunnerStand;

  beforeAll(async () => (db = await standDatabase()));
  beforeEach(async () => {
    await emptied(db);
    stand = await RunnerStand.open(db);
  });
  afterEach(async () => {
    await stand.untilIdle();
    await stand.close();
  });
  afterAll(() => db.drop());

  const one = async (run: (ctx: DetachedContext, attempt: number) => Promise<Finished | void>) => {
    stand.detached(Call, (job, ctx) => run(ctx, job.attempt));
    const runner = await stand.start();
    const id = await stand.enqueue(Call, { n: 0 });
    runner.wake();
    return id;
  };

  it('R22: what the work throws comes to the handler after the rollback, and it may finish again', async () => {
    const id = await one(async (ctx) => {
      const failing = ctx.finish(async (tx) => {
        await tx.sql.query(`INSERT INTO effect VALUES ('undone')`);
        throw new Error('no');
      });
      await expect(failing).rejects.toThrow('no');
      return ctx.finish(async (tx) => void (await tx.sql.query(`INSERT INTO effect VALUES ('done')`)));
    });
    await stand.seenOf('job.completed', id);
    expect(await stand.effects()).toEqual(['done']);
  });

  it('R22: a follow-up job joins; a second finish is refused; a throw after it changes nothing', async () => {
    const id = await one(async (ctx) => {
      await ctx.finish(async () => void (await stand.jobs.enqueue(Short, {}, { runIn: '1h' })));
      await expect(ctx.finish(() => Promise.resolve())).rejects.toMatchObject({ code: 'queue.run_settled' });
      throw new Error('too late');
    });
    await stand.seenOf('job.threw_after_finish', id);
    await stand.seenOf('job.completed', id);
    expect(await db.adminQuery('SELECT FROM holdfast.job WHERE kind = $1', [Short.kind])).toHaveLength(1);
  });

  it('R22: a serialization failure re-runs the work alone; a refusal rolls it back', async () => {
    let outside = 0;
    let inside = 0;
    const id = await one(async (ctx) => {
      outside += 1;
      return ctx.finish(async (tx) => {
        inside += 1;
        await tx.sql.query(`INSERT INTO effect VALUES ('undone')`);
        if (inside === 1) await tx.sql.query(`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$`);
        return refuse('test.refused');
      });
    });
    expect(await stand.seenOf('job.refused', id)).toMatchObject({ code: 'test.refused' });
    expect([outside, inside]).toEqual([1, 2]);
    expect(await stand.effects()).toEqual([]);
  });

  it('R22: without the lease it throws, and nothing stays', async () => {
    const id = await one(async (ctx) => {
      const finishing = ctx.finish(async (tx) => {
        await tx.sql.query(`INSERT INTO effect VALUES ('undone')`);
        await db.adminQuery('UPDATE holdfast.job SET lease_token = gen_random_uuid()');
      });
      await expect(finishing).rejects.toMatchObject({ code: 'queue.lease_lost' });
    });
    await stand.seenOf('job.lost', id);
    expect(await stand.effects()).toEqual([]);
  });

  it('R22: it joins a transaction that the handler opened itself', async () => {
    const id = await one(async (ctx) => {
      const open = await stand.database.begin();
      await open.transaction.sql.query(`INSERT INTO effect VALUES ('own')`);
      return ctx.finish(done({ outcome: 'test.own' }), { in: open });
    });
    expect(await stand.seenOf('job.completed', id)).toMatchObject({ outcome: 'test.own' });
    expect(await stand.effects()).toEqual(['own']);
  });

  it('R22: "finished" without a finish is a failed attempt', async () => {
    const id = await one((_ctx, attempt) => Promise.resolve(attempt === 1 ? { type: 'finished' } : undefined));
    expect(await stand.seenOf('job.retried', id)).toMatchObject({ code: 'queue.run_not_finished' });
  });
});
