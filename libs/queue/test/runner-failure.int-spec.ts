import { PermanentError, RetryableError, UnavailableError } from '@holdfast/kernel';
import type { TestDatabase } from '@holdfast/testing';
import { defineJob } from '../src/domain/definition.js';
import { done } from '../src/domain/outcome.js';
import { type } from '../src/domain/payload.schema.js';
import type { ClaimedJob } from '../src/ports/job-store.js';
import { LoggingReporter } from '../src/runner/logging.reporter.js';
import { eachStand } from './each.stand.js';
import { emptied, RunnerStand, standDatabase } from './runner.stand.js';

const Odd = defineJob('test.odd', { payload: type<{ n: number }>(), backoff: { delays: ['1h'] } });
const Grow = defineJob('test.grow', {
  backoff: { base: '10s', factor: 2, jitter: 0, max: '1h' },
  payload: type<object>(),
});
const Quick = defineJob('test.quick', { payload: type<{ n: number }>(), backoff: { delays: ['0ms'] } });
const NUL = '\0';

describe('A run that fails', () => {
  let db: TestDatabase;
  let stand: RunnerStand;

  eachStand((at) => void ({ db, stand } = at), { untilIdle: true });

  const thrownValues = (): unknown[] => {
    const cyclic: Record<string, unknown> = { name: 'Cyclic' };
    cyclic.cause = cyclic;
    const trap = () => {
      throw new Error('trap');
    };
    return [
      undefined,
      null,
      0,
      'plain text',
      Symbol('s'),
      Object.freeze({ frozen: true }),
      cyclic,
      Object.defineProperty({}, 'message', { get: trap }),
      Object.defineProperty(new Error('code'), 'code', { get: trap }),
      new Proxy({}, { get: trap, getPrototypeOf: trap, has: trap, ownKeys: trap }),
      new AggregateError([new Error('one'), 'two'], 'several'),
      new Error('m'.repeat(5_000_000)),
      new Error(`message ${NUL} with it`),
      Object.assign(new Error('stack'), { stack: `stack ${NUL}` }),
      Object.assign(new Error('property'), { name: `Name${NUL}`, note: NUL }),
      new Error('cause', { cause: new Error(`inner ${NUL}`, { cause: `\ud800` }) }),
    ];
  };

  it.each(['attached', 'detached'] as const)(
    'R8, K3, K36: whatever is thrown is one failed attempt with a readable, bounded reason (%s)',
    async (mode) => {
      const values = thrownValues();
      const fail = (job: { payload: { n: number } }) => Promise.reject(values[job.payload.n]);
      if (mode === 'attached') stand.attached(Odd, fail);
      else stand.detached(Odd, fail);
      const logged = new LoggingReporter(() => undefined);
      const runner = await stand.start({ errorDetail: 'message', slots: 5 });
      runner.events.subscribe((event) => logged.report(event));
      const ids = await Promise.all(values.map((_, n) => stand.enqueue(Odd, { n })));
      runner.wake();
      for (const id of ids) {
        expect(await stand.seenOf('job.retried', id)).toMatchObject({ code: 'queue.job_failed' });
        const job = await stand.job(id);
        expect(job).toMatchObject({ attempt: 1, error_code: 'queue.job_failed', state: 'PENDING' });
        expect(job.failures).toHaveLength(1);
        expect(JSON.stringify(job.failures).length).toBeLessThan(5_000);
      }
    },
  );

  it('R8: the row keeps codes and classes and no message, and the last five failures', async () => {
    stand.attached(Quick, (job) =>
      Promise.reject(new RetryableError('test.bad', { message: `secret ${job.attempt}` })),
    );
    const runner = await stand.start();
    const id = await stand.enqueue(Quick, { n: 0 }, { maxAttempts: 7 });
    for (let attempt = 1; attempt <= 7; attempt += 1) {
      runner.wake();
      await stand.seenOf(attempt < 7 ? 'job.retried' : 'job.dead_lettered', id);
    }
    const job = await stand.job(id);
    expect(job).toMatchObject({ attempt: 7, error_code: 'test.bad', state: 'DEAD_LETTER' });
    expect(job.failures?.map(({ attempt }) => attempt)).toEqual([3, 4, 5, 6, 7]);
    expect(JSON.stringify(job.failures)).not.toContain('secret');
  });

  it.each([
    'a string',
    7,
    null,
    { type: 'unheard' },
    { type: 'done', outcome: `a${NUL}` },
    { type: 'refuse' },
    { type: 'repeat', after: 'soon' },
  ])('R8, K3: an answer that is no outcome is a failed attempt: %j', async (answer) => {
    stand.attached(Odd, () => Promise.resolve(answer as never));
    const runner = await stand.start();
    const id = await stand.enqueue(Odd, { n: 0 });
    runner.wake();
    expect(await stand.seenOf('job.retried', id)).toMatchObject({ code: 'queue.invalid_outcome' });
  });

  it('R10: permanent is a dead letter at once, through any wrapping; unavailable waits and spends nothing', async () => {
    stand.attached(Odd, (job) => {
      const cause =
        job.payload.n === 0 ? new PermanentError('test.never') : new UnavailableError('test.away', { after: '2m' });
      return Promise.reject(new Error('wrapped', { cause: new UnavailableError('test.outer', { cause }) }));
    });
    stand.detached(Quick, () => Promise.reject(new UnavailableError('test.away')));
    const runner = await stand.start();
    const [never, away, detached] = [
      await stand.enqueue(Odd, { n: 0 }),
      await stand.enqueue(Odd, { n: 1 }),
      await stand.enqueue(Quick, { n: 0 }),
    ];
    runner.wake();
    expect(await stand.seenOf('job.dead_lettered', never)).toMatchObject({ code: 'test.never' });
    await stand.seenOf('job.deferred', away);
    expect(await stand.seenOf('job.deferred', detached)).toMatchObject({ code: 'test.away', verb: 'defer' });
    expect(await stand.job(never)).toMatchObject({ attempt: 1, state: 'DEAD_LETTER' });
    expect(await stand.job(away)).toMatchObject({ attempt: 0, state: 'PENDING' });
  });

  it('K61: deferrals do not count in the backoff: the first real failure waits as attempt 1 does', async () => {
    let calls = 0;
    stand.attached(Grow, () =>
      Promise.reject((calls += 1) <= 15 ? new UnavailableError('test.away', { after: '0s' }) : new Error('real')),
    );
    const runner = await stand.start();
    const id = await stand.enqueue(Grow, {});
    for (let call = 1; call <= 15; call += 1) {
      runner.wake();
      await stand.seenOf('job.deferred', id);
    }
    runner.wake();
    expect(await stand.seenOf('job.retried', id)).toMatchObject({ delayMs: 10_000 });
    expect(await stand.job(id)).toMatchObject({ attempt: 1, state: 'PENDING' });
  });

  it('K57: the backoff of a late attempt is capped, and the row is claimable again', async () => {
    stand.attached(Grow, () => Promise.reject(new Error('again')));
    const id = await stand.enqueue(Grow, {}, { maxAttempts: 'unlimited' });
    await db.adminQuery('UPDATE holdfast.job SET attempt = 1099 WHERE id = $1', [id]);
    const runner = await stand.start();
    runner.wake();
    expect(await stand.seenOf('job.retried', id)).toMatchObject({ delayMs: 3_600_000 });
    const job = await stand.job(id);
    expect(job).toMatchObject({ attempt: 1_100, state: 'PENDING' });
    expect(job.due_in_ms).toBeLessThanOrEqual(3_600_000);
  });

  it('K65: a job that asks for later lets the others run', async () => {
    const Later = defineJob('test.later', { payload: type<object>() });
    stand.attached(Later, () => Promise.reject(new RetryableError('test.later', { after: '1h' })));
    stand.attached(Quick, () => Promise.resolve());
    const later = await stand.enqueue(Later, {}, { priority: 0 });
    const good = await Promise.all(Array.from({ length: 10 }, (_, n) => stand.enqueue(Quick, { n })));
    const runner = await stand.start({ slots: 1 });
    runner.wake();
    await stand.seenOf('job.retried', later);
    for (const id of good) await stand.seenOf('job.completed', id);
    expect((await stand.job(later)).due_in_ms).toBeGreaterThan(3_500_000);
  });

  it('R9, K30: serialization failures and deadlocks in a handler are run again at once, with the effects once', async () => {
    let calls = 0;
    stand.attached(Odd, async (_job, ctx) => {
      await ctx.tx.sql.query(`INSERT INTO effect VALUES ('once')`);
      calls += 1;
      const state = calls === 1 ? '40001' : '40P01';
      if (calls <= 2) await ctx.tx.sql.query(`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '${state}'; END $$`);
    });
    const runner = await stand.start();
    const id = await stand.enqueue(Odd, { n: 0 });
    runner.wake();
    expect(await stand.seenOf('job.rerun', id)).toMatchObject({ error: { code: '40001' }, rerun: 1 });
    expect(await stand.seenOf('job.rerun', id)).toMatchObject({ error: { code: '40P01' }, rerun: 2 });
    await stand.seenOf('job.completed', id);
    expect(await stand.effects()).toEqual(['once']);
    expect(await stand.job(id)).toMatchObject({ attempt: 1, failures: null, state: 'SUCCEEDED' });
  });

  it('R9, K30: a completion that fails with 40001 is run again at once', async () => {
    const Serial = defineJob('test.serial', { isolation: 'SERIALIZABLE', payload: type<object>() });
    let calls = 0;
    stand.attached(Serial, async (job, ctx) => {
      await ctx.tx.sql.query(`INSERT INTO effect VALUES ('once')`);
      calls += 1;
      // A rival writes the row after this transaction's snapshot: its own write of it is a serialization failure.
      if (calls === 1) await db.adminQuery('UPDATE holdfast.job SET priority = 4 WHERE id = $1', [job.id]);
    });
    const runner = await stand.start();
    const id = await stand.enqueue(Serial, {});
    runner.wake();
    await stand.seenOf('job.rerun', id);
    await stand.seenOf('job.completed', id);
    expect(await stand.effects()).toEqual(['once']);
    expect(await stand.job(id)).toMatchObject({ attempt: 1, state: 'SUCCEEDED' });
  });

  it('R9: it is run again three times and then fails; without its lease it is lost', async () => {
    let calls = 0;
    stand.attached(Odd, async (job, ctx) => {
      calls += 1;
      if (job.payload.n === 1)
        await db.adminQuery('UPDATE holdfast.job SET lease_token = gen_random_uuid() WHERE id = $1', [job.id]);
      await ctx.tx.sql.query(`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$`);
    });
    const runner = await stand.start();
    const failing = await stand.enqueue(Odd, { n: 0 });
    runner.wake();
    await stand.seenOf('job.retried', failing);
    expect(calls).toBe(4);
    const losing = await stand.enqueue(Odd, { n: 1 });
    runner.wake();
    await stand.seenOf('job.lost', losing);
    expect(calls).toBe(5);
  });

  it('R13: the outcome is stored, counts are told and not stored', async () => {
    stand.detached(Odd, () => Promise.resolve(done({ counts: { rows: 3 }, outcome: 'test.counted' })));
    const runner = await stand.start();
    const id = await stand.enqueue(Odd, { n: 0 });
    runner.wake();
    expect(await stand.seenOf('job.completed', id)).toMatchObject({ counts: { rows: 3 }, outcome: 'test.counted' });
    expect(await stand.job(id)).toMatchObject({ outcome: 'test.counted' });
  });

  it('Q3: a payload that no longer parses is a dead letter at once', async () => {
    const Old = defineJob('test.old', { payload: type<object>() });
    const Strict = defineJob('test.old', {
      payload: { '~standard': { validate: () => ({ issues: [{ message: 'too old' }] }), vendor: 'test', version: 1 } },
    });
    stand.attached(Strict, () => Promise.resolve());
    const runner = await stand.start();
    const id = await stand.enqueue(Old, {});
    runner.wake();
    expect(await stand.seenOf('job.dead_lettered', id)).toMatchObject({ code: 'queue.payload_invalid' });
  });
});

describe('A run that starts late', () => {
  let db: TestDatabase;

  beforeAll(async () => (db = await standDatabase()));
  beforeEach(() => emptied(db));
  afterAll(() => db.drop());

  it.each(['attached', 'detached'] as const)(
    'Q13: a handler does not start on a lease that is too short; the job goes back with its attempt (%s)',
    async (mode) => {
      let calls = 0;
      let slow = true;
      const stand = await RunnerStand.open(db, {
        store: (store) => {
          const claim = store.claim.bind(store);
          store.claim = async (order) => {
            const jobs: ClaimedJob[] = await claim(order);
            if (jobs.length === 0 || !slow) return jobs;
            slow = false;
            // The answer takes long: this process stood still.
            const until = performance.now() + 700;
            while (performance.now() < until);
            return jobs;
          };
          return store;
        },
      });
      const run = () => {
        calls += 1;
        return Promise.resolve();
      };
      if (mode === 'attached') stand.attached(Odd, run);
      else stand.detached(Odd, run);
      const runner = await stand.start({ leases: { attachedMarginMs: 600, boundMarginMs: 100, detachedMs: 1_500 } });
      const id = await stand.enqueue(Odd, { n: 0 });
      runner.wake();
      expect(await stand.seenOf('job.given_back', id)).toMatchObject({ reason: 'lease_short' });
      // It may be claimed again at any moment now: that this is its first attempt shows that the other one was given back.
      runner.wake();
      expect(await stand.seenOf('job.completed', id)).toMatchObject({ run: { attempt: 1 } });
      expect(calls).toBe(1);
      await stand.close();
    },
  );
});
