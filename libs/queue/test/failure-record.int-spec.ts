import type { TestDatabase } from '@holdfast/testing';
import { hostname } from 'node:os';
import { defineJob } from '../src/domain/definition.js';
import { type } from '../src/domain/payload.schema.js';
import { eachStand } from './each.stand.js';
import type { RunnerStand } from './runner.stand.js';

const Write = defineJob('test.write', { payload: type<{ text: string }>(), backoff: { delays: ['0ms'] } });
const Later = defineJob('test.later', { payload: type<{ text: string }>(), backoff: { delays: ['1h'] } });
const NUL = '\0';

describe('What is recorded of a run that failed', () => {
  let db: TestDatabase;
  let stand: RunnerStand;

  eachStand((at) => void ({ db, stand } = at), { untilIdle: true });

  it.each([
    ['23505', `INSERT INTO once VALUES (1)`],
    ['42601', 'SELEKT 1'],
    ['P0001', `DO $$ BEGIN RAISE EXCEPTION 'of its own'; END $$`],
    ['40001', `DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$`],
  ])(
    'K2: SQL that fails with %s is rolled back first; the handler’s error, the attempt and the next moment are recorded, and the worker goes on',
    async (state, bad) => {
      await db.adminQuery('CREATE TABLE IF NOT EXISTS once (n int UNIQUE); TRUNCATE once; INSERT INTO once VALUES (1)');
      stand
        .attached(Later, async (job, ctx) => {
          await ctx.tx.sql.query('INSERT INTO effect VALUES ($1)', [job.payload.text]);
          await ctx.tx.sql.query(bad);
        })
        .attached(
          Write,
          async (job, ctx) => void (await ctx.tx.sql.query('INSERT INTO effect VALUES ($1)', [job.payload.text])),
        );
      const runner = await stand.start();
      const id = await stand.enqueue(Later, { text: 'bad' });
      runner.wake();
      expect((await stand.seenOf('job.retried', id)).error).toMatchObject({ code: state });
      const job = await stand.job(id);
      expect(job).toMatchObject({ attempt: 1, error_code: 'queue.job_failed', lease_token: null, state: 'PENDING' });
      expect(job.failures).toMatchObject([{ attempt: 1, class: expect.stringContaining(state) as string }]);
      expect(job.due_in_ms).toBeGreaterThan(3_500_000);
      const good = await stand.enqueue(Write, { text: 'good' });
      runner.wake();
      await stand.seenOf('job.completed', good);
      expect(await stand.effects()).toEqual(['good']);
    },
  );

  it.each(['40001', '40P01'])(
    'R9, K30: a completion that fails with %s is run again at once, under the same attempt, and its effects are there once',
    async (state) => {
      await db.adminQuery(`
        CREATE SEQUENCE IF NOT EXISTS completions;
        CREATE OR REPLACE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN IF nextval('completions') = 1 THEN RAISE EXCEPTION USING ERRCODE = '${state}'; END IF; RETURN NEW; END $$;
        SELECT setval('completions', 1, false);
        CREATE TRIGGER fail_once BEFORE UPDATE ON holdfast.job FOR EACH ROW WHEN (NEW.state = 2) EXECUTE FUNCTION fail_once()`);
      try {
        let calls = 0;
        stand.attached(Later, async (job, ctx) => {
          calls += 1;
          await ctx.tx.sql.query('INSERT INTO effect VALUES ($1)', [job.payload.text]);
        });
        const runner = await stand.start();
        const id = await stand.enqueue(Later, { text: 'once' });
        runner.wake();
        expect(await stand.seenOf('job.rerun', id)).toMatchObject({ error: { code: state }, rerun: 1 });
        await stand.seenOf('job.completed', id);
        expect(calls).toBe(2);
        expect(await stand.effects()).toEqual(['once']);
        expect(await stand.job(id)).toMatchObject({ attempt: 1, failures: null, state: 'SUCCEEDED' });
      } finally {
        await db.adminQuery('DROP TRIGGER fail_once ON holdfast.job');
      }
    },
  );

  it('R9: is run again on a lease that was renewed by its token', async () => {
    const leases: { left: number; renewed: number | null }[] = [];
    stand.attached(Later, async (job, ctx) => {
      const [row] = await db.adminQuery<{ left: number; renewed: number | null }>(
        `SELECT extract(epoch FROM j.lease_until - clock_timestamp())::float8 AS left, extract(epoch FROM r.until - clock_timestamp())::float8 AS renewed
           FROM holdfast.job j LEFT JOIN holdfast.job_renewal r ON r.job_id = j.id AND r.token = j.lease_token WHERE j.id = $1`,
        [job.id],
      );
      leases.push(row!);
      // By now the lease of the claim is all but over: without a renewal the next run would have none.
      await db.adminQuery(`UPDATE holdfast.job SET lease_until = clock_timestamp() WHERE id = $1`, [job.id]);
      if (leases.length === 1) await ctx.tx.sql.query(`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$`);
    });
    const runner = await stand.start();
    const id = await stand.enqueue(Later, { text: 'a' });
    runner.wake();
    await stand.seenOf('job.rerun', id);
    await stand.seenOf('job.completed', id);
    const [first, second] = leases;
    expect(first!.left).toBeGreaterThan(40);
    expect(first!.renewed).toBeNull();
    expect(second!.left).toBeLessThan(0);
    expect(second!.renewed).toBeGreaterThan(40);
  });

  it.each([
    ['message', () => new Error(`a${NUL}b`)],
    ['stack', () => Object.assign(new Error('a'), { stack: `a${NUL}b` })],
    ['name', () => Object.assign(new Error('a'), { name: `A${NUL}` })],
    ['code', () => Object.assign(new Error('a'), { code: `a${NUL}` })],
    ['a property of its own', () => Object.assign(new Error('a'), { detail: `a${NUL}b` })],
    ['cause', () => new Error('a', { cause: new Error(NUL, { cause: NUL }) })],
    ['a text that is thrown', () => NUL],
  ])('K3: U+0000 in the %s: the job is a dead letter at its limit, and its neighbour is done', async (_, make) => {
    stand.attached(Write, () => Promise.reject(make() as Error)).attached(Later, () => Promise.resolve());
    const runner = await stand.start({ errorDetail: 'message' });
    const [bad, good] = [
      await stand.enqueue(Write, { text: 'bad' }, { maxAttempts: 2 }),
      await stand.enqueue(Later, { text: 'good' }),
    ];
    runner.wake();
    await stand.seenOf('job.completed', good);
    await stand.seenOf('job.retried', bad);
    runner.wake();
    await stand.seenOf('job.dead_lettered', bad);
    const job = await stand.job(bad);
    expect(job).toMatchObject({ attempt: 2, error_code: 'queue.job_failed', state: 'DEAD_LETTER' });
    expect(job.failures).toHaveLength(2);
  });

  it('R2: a lost lease is told once, and nothing else is told of the run', async () => {
    stand.attached(Later, async (job, ctx) => {
      await ctx.tx.sql.query('INSERT INTO effect VALUES ($1)', [job.payload.text]);
      await db.adminQuery('UPDATE holdfast.job SET lease_token = gen_random_uuid() WHERE id = $1', [job.id]);
    });
    const runner = await stand.start();
    const told: string[] = [];
    runner.events.subscribe((event) => event.type.startsWith('job.') && told.push(event.type));
    const id = await stand.enqueue(Later, { text: 'a' });
    runner.wake();
    await stand.seenOf('job.lost', id);
    await runner.stop();
    expect(told).toEqual(['job.started', 'job.lost']);
    expect(await stand.effects()).toEqual([]);
  });

  it('K24: a process that took the name of one that is gone, and runs jobs of its own, takes back what that one left', async () => {
    const owner = `${hostname()}/1`;
    stand.attached(Write, () => Promise.resolve());
    const left = await stand.enqueue(Write, { text: 'left' });
    const [claimed] = await stand.store.claim({
      fullLook: true,
      kinds: [{ kind: Write.kind, leaseMs: 1, limit: 1 }],
      limit: 1,
      owner,
      token: '00000000-0000-4000-8000-000000000001',
    });
    expect(claimed).toMatchObject({ attempt: 1, id: left });
    await stand.start({ owner, pollMs: 50 });
    await stand.seenOf('job.completed', await stand.enqueue(Write, { text: 'its own' }));
    await stand.seenOf('job.completed', left);
    expect(await stand.job(left)).toMatchObject({ attempt: 2, state: 'SUCCEEDED' });
  });
});
