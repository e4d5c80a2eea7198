import { TcpProxy, waitFor, type TestDatabase } from '@holdfast/testing';
import { defineJob } from '../src/domain/definition.js';
import { type } from '../src/domain/payload.schema.js';
import type { JobStore } from '../src/ports/job-store.js';
import type { PostgresJobStore } from '../src/postgres/postgres.job-store.js';
import { emptied, Gate, RunnerStand, standDatabase, unhandledRejections } from './runner.stand.js';

const Write = defineJob('test.write', { payload: type<{ text: string }>(), backoff: { delays: ['0ms'] } });

/**
 * killing ends the control connection once: `during` a verb, while its statement waits for a lock at the server, or `after` it, when the
 * statement has done its work and only the answer is lost.
 */
function killing(db: TestDatabase, verb: keyof JobStore, when: 'after' | 'during', kill: { on: boolean }) {
  return (store: PostgresJobStore): JobStore => {
    const original = (store[verb] as (...args: unknown[]) => Promise<unknown>).bind(store);
    Object.assign(store, {
      [verb]: async (...args: unknown[]) => {
        if (!kill.on) return original(...args);
        kill.on = false;
        if (when === 'during') return endedWhileItWaits(db, () => original(...args));
        await original(...args);
        throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
      },
    });
    return store;
  };
}

async function endedWhileItWaits(db: TestDatabase, verb: () => Promise<unknown>): Promise<unknown> {
  const locking = await db.client();
  await locking.query('BEGIN; LOCK TABLE holdfast.job, holdfast.job_request IN ACCESS EXCLUSIVE MODE');
  const answer = verb();
  let ended = false;
  answer.catch(() => (ended = true));
  // Other statements may wait for the same lock: whoever does loses its connection.
  const waiting = `application_name LIKE 'holdfast%' AND wait_event_type = 'Lock'`;
  await waitFor(() => db.terminateBackends(waiting).then(() => ended), {
    what: 'the statement to lose its connection',
  });
  await locking.end();
  return answer;
}

describe.each(['pg', 'typeorm'] as const)('R5: a backend that is terminated, on %s', (using) => {
  let db: TestDatabase;
  let stand: RunnerStand;
  const unhandled = unhandledRejections();

  beforeAll(async () => (db = await standDatabase()));
  beforeEach(() => emptied(db));
  afterEach(async () => {
    await stand.untilIdle();
    await stand.close();
    expect(stand.pool.totalCount).toBeLessThanOrEqual(10);
    expect(unhandled).toEqual([]);
  });
  afterAll(() => db.drop());

  /** works proves that the worker lives: a job enqueued now is run. */
  const works = async () => {
    const id = await stand.enqueue(Write, { text: 'after' });
    await stand.seenOf('job.completed', id, 20_000);
  };
  const enqueued = async (pollMs = 100) => {
    stand.attached(
      Write,
      async (job, ctx) => void (await ctx.tx.sql.query('INSERT INTO effect VALUES ($1)', [job.payload.text])),
    );
    const id = await stand.enqueue(Write, { text: 'a' });
    await stand.start({ pollMs });
    return id;
  };

  it.each(['intake', 'claim', 'reap', 'claimSuspect'] as const)(
    'R5, K116: during %s: the loop lives and runs the job',
    async (verb) => {
      const kill = { on: true };
      stand = await RunnerStand.open(db, { store: killing(db, verb, 'during', kill), using });
      const id = await enqueued();
      expect(await stand.seen('loop.failed')).toMatchObject({ failures: 1 });
      await stand.seenOf('job.completed', id);
      await works();
      expect(await stand.effects()).toEqual(['a', 'after']);
    },
  );

  it('R5: a claim whose answer was lost is given back by its token, with the attempt', async () => {
    const kill = { on: true };
    stand = await RunnerStand.open(db, { store: killing(db, 'claim', 'after', kill), using });
    const id = await enqueued();
    expect(await stand.seen('loop.failed')).toMatchObject({ failures: 1, stage: 'claim' });
    expect(await stand.seen('claim.given_back')).toMatchObject({ jobs: 1 });
    await stand.seenOf('job.completed', id);
    expect(await stand.job(id)).toMatchObject({ attempt: 1, state: 'SUCCEEDED' });
    await stand.seen('loop.recovered');
  });

  it('R5, K16: during BEGIN, more often than the pool has connections: no attempt is spent and no client is kept', async () => {
    const proxy = await TcpProxy.open(db.url);
    stand = await RunnerStand.open(db, { poolSize: 2, poolUrl: proxy.url, using });
    stand.attached(Write, () => Promise.resolve());
    const id = await stand.enqueue(Write, { text: 'a' });
    const runner = await stand.start({ slots: 2 });
    for (let failure = 1; failure <= 5; failure += 1) {
      proxy.when({ act: () => proxy.sever(), moment: 'before', text: 'BEGIN' });
      await db.adminQuery('UPDATE holdfast.job SET due_at = now() WHERE id = $1', [id]);
      runner.wake();
      expect(await stand.seenOf('job.deferred', id)).toMatchObject({ code: 'queue.begin_failed', verb: 'defer' });
      expect(await stand.job(id)).toMatchObject({ attempt: 0, state: 'PENDING' });
    }
    await db.adminQuery('UPDATE holdfast.job SET due_at = now() WHERE id = $1', [id]);
    runner.wake();
    await stand.seenOf('job.completed', id);
    await stand.untilIdle();
    await runner.stop();
    await proxy.close();
  });

  it.each([false, true])(
    'R5, K14: in the handler (it catches the error: %s): deferred as a loss, the attempt kept',
    async (catches) => {
      stand = await RunnerStand.open(db, { using });
      let first = true;
      stand.attached(Write, async (job, ctx) => {
        await ctx.tx.sql.query('INSERT INTO effect VALUES ($1)', [job.payload.text]);
        if (!first) return;
        first = false;
        await db.terminateBackends(`state = 'idle in transaction'`);
        const query = ctx.tx.sql.query('SELECT 1');
        await (catches ? query.catch(() => undefined) : query);
      });
      const id = await stand.enqueue(Write, { text: 'a' });
      await stand.start({ pollMs: 100 });
      expect(await stand.seenOf('job.deferred', id)).toMatchObject({ code: 'kernel.connection_lost', verb: 'lose' });
      expect(await stand.job(id)).toMatchObject({ attempt: 0, losses: 1 });
      await stand.seenOf('job.completed', id);
      expect(await stand.job(id)).toMatchObject({ attempt: 1, losses: 0, state: 'SUCCEEDED' });
      expect(await stand.effects()).toEqual(['a']);
    },
  );

  it('R5: between the handler and the fence', async () => {
    stand = await RunnerStand.open(db, { using });
    let first = true;
    stand.attached(Write, async (job, ctx) => {
      await ctx.tx.sql.query('INSERT INTO effect VALUES ($1)', [job.payload.text]);
      if (first) await db.terminateBackends(`state = 'idle in transaction'`);
      first = false;
    });
    const id = await stand.enqueue(Write, { text: 'a' });
    await stand.start({ pollMs: 100 });
    expect(await stand.seenOf('job.deferred', id)).toMatchObject({ verb: 'lose' });
    await stand.seenOf('job.completed', id);
    expect(await stand.effects()).toEqual(['a']);
  });

  it('R5: three losses in a row are free, from the fourth on they spend attempts', async () => {
    stand = await RunnerStand.open(db, { using });
    stand.attached(Write, async (_job, ctx) => {
      await ctx.tx.sql.query('SELECT 1');
      await db.terminateBackends(`state = 'idle in transaction'`);
      await ctx.tx.sql.query('SELECT 1');
    });
    const id = await stand.enqueue(Write, { text: 'a' }, { maxAttempts: 2 });
    const runner = await stand.start();
    const attempts: number[] = [];
    for (let loss = 1; loss <= 4; loss += 1) {
      runner.wake();
      await stand.seenOf('job.deferred', id);
      attempts.push((await stand.job(id)).attempt);
      await db.adminQuery('UPDATE holdfast.job SET due_at = now() WHERE id = $1', [id]);
    }
    expect(attempts).toEqual([0, 0, 0, 1]);
    runner.wake();
    await stand.seenOf('job.dead_lettered', id);
  });

  it.each(['during', 'after'] as const)('R5: %s the recording of a failure: it is recorded once', async (when) => {
    const kill = { on: true };
    stand = await RunnerStand.open(db, { store: killing(db, 'settle', when, kill), using });
    stand.attached(Write, (job) => (job.attempt === 1 ? Promise.reject(new Error('once')) : Promise.resolve()));
    const id = await stand.enqueue(Write, { text: 'a' });
    await stand.start({ pollMs: 100 });
    expect(await stand.seenOf('job.retried', id)).toMatchObject({ code: 'queue.job_failed' });
    await stand.seenOf('job.completed', id);
    expect(kill.on).toBe(false);
    const job = await stand.job(id);
    expect(job).toMatchObject({ attempt: 2, state: 'SUCCEEDED' });
    expect(job.failures).toHaveLength(1);
  });

  it('R5, R7: during a renewal: it is tried again and the run goes on', async () => {
    const kill = { on: true };
    stand = await RunnerStand.open(db, { store: killing(db, 'renew', 'during', kill), using });
    const gate = new Gate();
    stand.detached(Write, () => gate.pass());
    const id = await stand.enqueue(Write, { text: 'a' });
    await stand.start({ leases: { detachedMs: 1_500 }, pollMs: 100 });
    await stand.seen('lease.renewal_failed');
    await stand.seen('lease.renewed', ({ leases }) => leases === 1);
    gate.open();
    await stand.seenOf('job.completed', id);
    expect(await stand.job(id)).toMatchObject({ attempt: 1, state: 'SUCCEEDED' });
  });

  it('R18: all connections terminated at once, as by a restart: running jobs are given their attempt back, the loop lives', async () => {
    stand = await RunnerStand.open(db, { using });
    const gate = new Gate();
    let first = true;
    stand.attached(Write, async (job, ctx) => {
      await ctx.tx.sql.query('INSERT INTO effect VALUES ($1)', [job.payload.text]);
      if (first) await gate.pass();
      first = false;
    });
    const id = await stand.enqueue(Write, { text: 'a' });
    await stand.start({ pollMs: 100 });
    await gate.reached;
    await db.terminateBackends();
    gate.open();
    expect(await stand.seenOf('job.deferred', id)).toMatchObject({ verb: 'lose' });
    await stand.seenOf('job.completed', id);
    expect(await stand.effects()).toEqual(['a']);
    await works();
  });
});
