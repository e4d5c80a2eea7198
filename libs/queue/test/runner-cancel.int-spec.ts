import { waitFor, type TestDatabase } from '@holdfast/testing';
import { defineJob } from '../src/domain/definition.js';
import { done, refuse, repeat, type Outcome } from '../src/domain/outcome.js';
import { type } from '../src/domain/payload.schema.js';
import type { PostgresJobStore } from '../src/postgres/postgres.job-store.js';
import { emptied, Gate, RunnerStand, standDatabase, unhandledRejections } from './runner.stand.js';

const Write = defineJob('test.write', { payload: type<object>() });
const Call = defineJob('test.call', { payload: type<object>(), timeout: '20s' });
const Brief = defineJob('test.brief', { payload: type<object>(), timeout: '1s' });
const SOON = { cancelEveryMs: 50 };

const untilAborted = (signal: AbortSignal) =>
  new Promise<Error>((resolve) => signal.addEventListener('abort', () => resolve(signal.reason as Error)));

describe.each(['pg', 'typeorm'] as const)('Cancelling what runs, on %s', (using) => {
  let db: TestDatabase;
  let stand: RunnerStand;
  const unhandled = unhandledRejections();

  beforeAll(async () => (db = await standDatabase()));
  beforeEach(async () => {
    await emptied(db);
    stand = await RunnerStand.open(db, { using });
  });
  afterEach(async () => {
    await stand.close();
    expect(unhandled).toEqual([]);
  });
  afterAll(() => db.drop());

  const asked = async (id: string) => expect(await stand.store.cancel(id)).toEqual({ disposition: 'requested', id });
  const ended = async (id: string, state: string, events: 'job.cancelled' | 'job.completed') => {
    const event = await stand.seenOf(events, id);
    expect(await stand.job(id)).toMatchObject({ lease_token: null, state });
    return event;
  };

  it('R16: the signal of an attached run aborts, its writes roll back, and it ends as CANCELLED, within about a second', async () => {
    const started = new Gate();
    let reason: Error | undefined;
    stand.attached(Write, async (_job, ctx) => {
      await ctx.tx.sql.query(`INSERT INTO effect VALUES ('cancelled')`);
      void started.pass();
      reason = await untilAborted(ctx.signal);
    });
    await stand.start();
    const id = await stand.enqueue(Write, {});
    stand.wake();
    await started.reached;
    await asked(id);
    const askedAt = performance.now();
    await ended(id, 'CANCELLED', 'job.cancelled');
    expect(performance.now() - askedAt).toBeLessThan(8_000);
    expect(reason).toMatchObject({ code: 'queue.cancelled', jobId: id });
    expect(await stand.job(id)).toMatchObject({ attempt: 1, error_code: null, failures: null });
    expect(await stand.effects()).toEqual([]);
    await stand.untilIdle();
  });

  it('R16, R6: an attached run inside a statement of minutes is cancelled all the same', async () => {
    const started = new Gate();
    stand.attached(Write, async (_job, ctx) => {
      await ctx.tx.sql.query(`INSERT INTO effect VALUES ('slow')`);
      void started.pass();
      await ctx.tx.sql.query('SELECT pg_sleep(300)');
    });
    await stand.start(SOON);
    const id = await stand.enqueue(Write, {});
    stand.wake();
    await started.reached;
    await asked(id);
    await ended(id, 'CANCELLED', 'job.cancelled');
    expect(await stand.effects()).toEqual([]);
    await stand.untilIdle();
  });

  it('R16, R2: a fenced completion that gets there first wins', async () => {
    const started = new Gate();
    const row = await stand.database.begin();
    let signal: AbortSignal | undefined;
    stand.attached(Write, async (job, ctx) => {
      signal = ctx.signal;
      await ctx.tx.sql.query(`INSERT INTO effect VALUES ('kept')`);
      await row.transaction.sql.query('SELECT FROM holdfast.job WHERE id = $1 FOR UPDATE', [job.id]);
      void started.pass();
    });
    await stand.start(SOON);
    const id = await stand.enqueue(Write, {});
    stand.wake();
    await started.reached;
    await waitFor(async () => (await waiting()) === 1, { what: 'the fence to wait for the row' });
    await asked(id);
    await waitFor(() => signal!.aborted, { what: 'the cancel to be seen' });
    await row.rollback();
    await ended(id, 'SUCCEEDED', 'job.completed');
    expect(await stand.effects()).toEqual(['kept']);
  });

  it('R16: an attached run that ends unseen with a failure is CANCELLED, and the event has the error', async () => {
    const gate = new Gate();
    stand.attached(Write, async () => {
      await gate.pass();
      throw new Error('It went wrong.');
    });
    await stand.start({ cancelEveryMs: 60_000 });
    const id = await stand.enqueue(Write, {});
    stand.wake();
    await gate.reached;
    await asked(id);
    gate.open();
    expect(await ended(id, 'CANCELLED', 'job.cancelled')).toMatchObject({ error: { message: 'It went wrong.' } });
    expect(await stand.job(id)).toMatchObject({ error_code: 'queue.job_failed', failures: [{ attempt: 1 }] });
  });

  it('R16, R11: an attached repetition commits its writes; the row that it leaves is cancelled before it runs again', async () => {
    const gate = new Gate();
    stand.attached(Write, async (_job, ctx) => {
      await ctx.tx.sql.query(`INSERT INTO effect VALUES ('kept')`);
      await gate.pass();
      return repeat('1h');
    });
    await stand.start({ cancelEveryMs: 60_000 });
    const id = await stand.enqueue(Write, {});
    stand.wake();
    await gate.reached;
    await asked(id);
    gate.open();
    await stand.seenOf('job.completed', id);
    stand.wake();
    const { result } = await stand.seen('reap.done');
    expect(result.cancelled).toEqual([{ id, kind: Write.kind }]);
    expect(await stand.job(id)).toMatchObject({ state: 'CANCELLED' });
    expect(await stand.effects()).toEqual(['kept']);
  });

  it('R16: a run whose handler was not called yet never calls it', async () => {
    const seen = new Gate();
    const pool = await RunnerStand.open(db, { poolSize: 1, store: (store) => telling(store, seen), using });
    try {
      let called = false;
      pool.attached(Write, () => Promise.resolve(void (called = true)));
      const other = await pool.database.begin();
      await pool.start({ ...SOON, slots: 1 });
      const id = await pool.enqueue(Write, {});
      pool.wake();
      await pool.seenOf('job.started', id);
      await asked(id);
      await seen.reached;
      await other.rollback();
      await pool.seenOf('job.cancelled', id);
      expect(called).toBe(false);
      expect(await stand.job(id)).toMatchObject({ state: 'CANCELLED' });
    } finally {
      await pool.close();
    }
  });

  it.each<[string, () => Promise<Outcome>, 'CANCELLED' | 'SUCCEEDED']>([
    ['throws the reason', () => Promise.reject(new Error('aborted')), 'CANCELLED'],
    ['answers done', () => Promise.resolve(done()), 'SUCCEEDED'],
    ['refuses', () => Promise.resolve(refuse('test.refused')), 'CANCELLED'],
    ['repeats', () => Promise.resolve(repeat('1h')), 'CANCELLED'],
  ])('R16: a detached handler that saw the cancel and %s: %s', async (_how, answer, state) => {
    const started = new Gate();
    stand.detached(Call, async (_job, ctx) => {
      void started.pass();
      expect(await untilAborted(ctx.signal)).toMatchObject({ code: 'queue.cancelled' });
      return answer();
    });
    await stand.start(SOON);
    const id = await stand.enqueue(Call, {});
    stand.wake();
    await started.reached;
    await asked(id);
    await ended(id, state, state === 'SUCCEEDED' ? 'job.completed' : 'job.cancelled');
  });

  it('R16, R22: a detached handler may still finish what it has done outside', async () => {
    const started = new Gate();
    stand.detached(Call, async (_job, ctx) => {
      void started.pass();
      await untilAborted(ctx.signal);
      return ctx.finish(async (tx) => {
        await tx.sql.query(`INSERT INTO effect VALUES ('booked')`);
        return done({ outcome: 'call.booked' });
      });
    });
    await stand.start(SOON);
    const id = await stand.enqueue(Call, {});
    stand.wake();
    await started.reached;
    await asked(id);
    await ended(id, 'SUCCEEDED', 'job.completed');
    expect(await stand.effects()).toEqual(['booked']);
  });

  it('R16, R7: its lease is renewed until a detached handler has tidied up, however long that takes', async () => {
    const [started, tidied] = [new Gate(), new Gate()];
    stand.detached(Call, async (_job, ctx) => {
      void started.pass();
      await untilAborted(ctx.signal);
      await tidied.pass();
    });
    await stand.start({ ...SOON, leases: { detachedMs: 900 } });
    const id = await stand.enqueue(Call, {});
    stand.wake();
    await started.reached;
    await asked(id);
    await tidied.reached;
    const untilOf = () => db.adminQuery<{ until: Date }>('SELECT max(until) AS until FROM holdfast.job_renewal');
    const [first] = await untilOf();
    await waitFor(async () => (await untilOf())[0]!.until > first!.until, { what: 'another renewal' });
    tidied.open();
    await ended(id, 'SUCCEEDED', 'job.completed');
  });

  it('R16, R6: a detached handler whose time runs out after the cancel ends as CANCELLED, whatever it answers', async () => {
    const [started, over] = [new Gate(), new Gate()];
    stand.detached(Brief, async (_job, ctx) => {
      void started.pass();
      await untilAborted(ctx.signal);
      await over.pass();
      await expect(ctx.finish(() => Promise.resolve(done()))).rejects.toMatchObject({ code: 'queue.cancelled' });
      return done();
    });
    await stand.start({ ...SOON, overrunMs: 1_500 });
    const id = await stand.enqueue(Brief, {});
    stand.wake();
    await started.reached;
    await asked(id);
    await over.reached;
    // Told 1.5 s after the abort, by when the timeout of 1 s is over.
    await stand.seenOf('job.overrun', id);
    over.open();
    await ended(id, 'CANCELLED', 'job.cancelled');
  });

  it('R16, R17: a run that a shutdown stops before it saw the cancel is not given back, but CANCELLED', async () => {
    const started = new Gate();
    stand.attached(Write, async (_job, ctx) => {
      void started.pass();
      await untilAborted(ctx.signal);
    });
    const runner = await stand.start({ cancelEveryMs: 60_000, graceMs: 50 });
    const id = await stand.enqueue(Write, {});
    runner.wake();
    await started.reached;
    await asked(id);
    await runner.drain();
    await ended(id, 'CANCELLED', 'job.cancelled');
  });

  it('R16: two that cancel, and a third that comes too late, end it once', async () => {
    const started = new Gate();
    stand.attached(Write, async (_job, ctx) => {
      void started.pass();
      await untilAborted(ctx.signal);
    });
    await stand.start(SOON);
    const id = await stand.enqueue(Write, {});
    stand.wake();
    await started.reached;
    const both = await Promise.all([stand.store.cancel(id), stand.store.cancel(id)]);
    await ended(id, 'CANCELLED', 'job.cancelled');
    expect(both).toContainEqual({ disposition: 'requested', id });
    for (const answer of both) expect(answer).not.toMatchObject({ disposition: 'cancelled' });
    expect(await stand.store.cancel(id)).toEqual({ disposition: 'final', id, state: 'CANCELLED' });
    expect(stand.events.filter(({ type: name }) => name === 'job.cancelled')).toEqual([]);
    expect(await db.adminQuery('SELECT FROM holdfast.job_cancel')).toEqual([]);
  });

  /** waiting answers how many backends wait for a row of somebody else's transaction. */
  const waiting = async () =>
    (
      await db.adminQuery(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'transactionid'`,
      )
    ).length;
});

/** telling opens the gate's other side once a look has found somebody to cancel. */
function telling(store: PostgresJobStore, seen: Gate): PostgresJobStore {
  const cancelsOf = store.cancelsOf.bind(store);
  store.cancelsOf = async (leases) => {
    const found = await cancelsOf(leases);
    if (found.length > 0) setImmediate(() => void seen.pass());
    return found;
  };
  return store;
}

describe('CancelWatch', () => {
  let db: TestDatabase;
  let stand: RunnerStand;
  let asked: number[] = [];
  let broken = false;

  beforeAll(async () => (db = await standDatabase()));
  beforeEach(async () => {
    asked = [];
    await emptied(db);
    stand = await RunnerStand.open(db, { store: watched });
  });
  afterEach(() => stand.close());
  afterAll(() => db.drop());

  function watched(store: PostgresJobStore): PostgresJobStore {
    const cancelsOf = store.cancelsOf.bind(store);
    store.cancelsOf = (leases) => {
      asked.push(leases.length);
      return broken ? Promise.reject(new Error('It is away.')) : cancelsOf(leases);
    };
    return store;
  }

  it('R16, P8: asks nothing while nothing runs, and by one statement for all that does', async () => {
    const [one, two] = [new Gate(), new Gate()];
    const gates = [one, two];
    stand.detached(Call, () => gates.shift()!.pass());
    await stand.start({ cancelEveryMs: 10, pollMs: 20 });
    for (let polls = 0; polls < 5; polls++) await stand.seen('claim.answered');
    expect(asked).toEqual([]);
    const ids = [await stand.enqueue(Call, {}), await stand.enqueue(Call, {})];
    stand.wake();
    await Promise.all([one.reached, two.reached]);
    await waitFor(() => asked.includes(2), { what: 'a look for both' });
    one.open();
    two.open();
    for (const id of ids) await stand.seenOf('job.completed', id);
    expect(asked).toContain(2);
  });

  it('R16, R18: a look that fails is told, hurts nothing, and the next one sees the cancel', async () => {
    const started = new Gate();
    stand.detached(Call, async (_job, ctx) => {
      void started.pass();
      throw await untilAborted(ctx.signal);
    });
    await stand.start(SOON);
    const id = await stand.enqueue(Call, {});
    stand.wake();
    await started.reached;
    broken = true;
    await stand.store.cancel(id);
    expect(await stand.seen('loop.failed', ({ stage }) => stage === 'cancels')).toMatchObject({ stage: 'cancels' });
    broken = false;
    await stand.seenOf('job.cancelled', id);
  });
});
