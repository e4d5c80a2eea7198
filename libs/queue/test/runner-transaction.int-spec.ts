import { executorOf, TransactionSettledError, type Transaction } from '@holdfast/kernel';
import { TcpProxy, testbed, waitFor, type TestDatabase } from '@holdfast/testing';
import { EntitySchema } from 'typeorm';
import { defineJob } from '../src/domain/definition.js';
import { type } from '../src/domain/payload.schema.js';
import { emptied, Gate, RunnerStand, standDatabase, unhandledRejections } from './runner.stand.js';

const Write = defineJob('test.write', { payload: type<{ text: string }>(), backoff: { delays: ['1h'] } });

const insert = (tx: Transaction, text: string, n: number | null = null) =>
  tx.sql.query('INSERT INTO effect VALUES ($1, $2)', [text, n]);

describe.each(['pg', 'typeorm'] as const)('A run in its transaction, on %s', (using) => {
  let db: TestDatabase;
  let stand: RunnerStand;
  const unhandled = unhandledRejections();

  beforeAll(async () => {
    db = await standDatabase();
    await db.adminQuery(`
      CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(20); RETURN NULL; END $$;
      CREATE TABLE slow_at_commit (text text);
      CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON slow_at_commit DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()`);
  });
  beforeEach(async () => {
    await emptied(db);
    stand = await RunnerStand.open(db, { using });
  });
  afterEach(async () => {
    await stand.untilIdle();
    await stand.close();
    expect(unhandled).toEqual([]);
  });
  afterAll(() => db.drop());

  const runOne = async () => {
    const runner = await stand.start();
    const id = await stand.enqueue(Write, { text: 'a' });
    runner.wake();
    return id;
  };

  it('R1: the handler has no claim on the job row, and the server bounds its transaction', async () => {
    const seen = new Gate<{ bound: string; locks: number }>();
    // A server without the one setting has two that come close.
    const bounds =
      testbed().major < 17 ? ['statement_timeout', 'idle_in_transaction_session_timeout'] : ['transaction_timeout'];
    stand.attached(Write, async (job, ctx) => {
      const { rows } = await ctx.tx.sql.query<{ bound: string }>(
        'SELECT max(current_setting(name)) AS bound FROM unnest($1::text[]) AS name HAVING count(DISTINCT current_setting(name)) = 1',
        [bounds],
      );
      const locks = await db.adminQuery('SELECT FROM holdfast.job WHERE id = $1 FOR UPDATE NOWAIT', [job.id]);
      void seen.pass({ bound: rows[0]!.bound, locks: locks.length });
    });
    const id = await runOne();
    expect(await seen.reached).toEqual({ bound: '35s', locks: 1 });
    await stand.seenOf('job.completed', id);
  });

  it('R2: a lost lease leaves no effect and records nothing', async () => {
    stand.attached(Write, async (job, ctx) => {
      await insert(ctx.tx, 'a');
      await db.adminQuery('UPDATE holdfast.job SET lease_token = gen_random_uuid() WHERE id = $1', [job.id]);
    });
    const id = await runOne();
    const lost = await stand.seenOf('job.lost', id);
    expect(lost.error).toMatchObject({ code: 'queue.lease_lost' });
    expect(await stand.effects()).toEqual([]);
    expect(await stand.job(id)).toMatchObject({ failures: null, state: 'RUNNING' });
  });

  it('R3: a swallowed SQL error is a failed attempt that names the cause and the remedy', async () => {
    stand.attached(Write, async (_job, ctx) => {
      await insert(ctx.tx, 'a');
      await ctx.tx.sql.query('SELECT 1/0').catch(() => undefined);
    });
    const id = await runOne();
    const { error } = await stand.seenOf('job.retried', id);
    expect(error).toMatchObject({
      cause: expect.objectContaining({ code: '22012' }) as Error,
      code: 'kernel.transaction_aborted',
    });
    expect((error as Error).message).toContain('savepoint');
    expect((await stand.job(id)).failures).toMatchObject([{ class: expect.stringContaining('22012') as string }]);
    expect(await stand.effects()).toEqual([]);
  });

  it('R3: a deferred constraint that fails at COMMIT is the failure of the job', async () => {
    await db.adminQuery(`INSERT INTO effect VALUES ('there', 1)`);
    stand.attached(Write, async (_job, ctx) => void (await insert(ctx.tx, 'a', 1)));
    const id = await runOne();
    expect((await stand.seenOf('job.retried', id)).error).toMatchObject({ code: '23505' });
    expect(await stand.effects()).toEqual(['there']);
    expect(await stand.job(id)).toMatchObject({ attempt: 1, state: 'PENDING' });
  });

  it('R3, R5: a backend that is terminated during COMMIT has not committed; the job waits and keeps its attempt', async () => {
    stand.attached(Write, async (_job, ctx) => {
      await insert(ctx.tx, 'a');
      await ctx.tx.sql.query(`INSERT INTO slow_at_commit VALUES ('x')`);
    });
    const id = await runOne();
    const committing = `query LIKE 'COMMIT%' AND wait_event = 'PgSleep' AND datname = current_database()`;
    await waitFor(() => db.adminQuery(`SELECT FROM pg_stat_activity WHERE ${committing}`).then((rows) => rows.length), {
      what: 'COMMIT to be under way',
    });
    await db.terminateBackends(committing);
    expect(await stand.seenOf('job.deferred', id)).toMatchObject({ code: 'kernel.commit_unknown', verb: 'lose' });
    expect(await stand.effects()).toEqual([]);
    expect(await stand.job(id)).toMatchObject({ attempt: 0, losses: 1, state: 'PENDING' });
  });

  it('R3: a COMMIT whose answer was lost is known to have committed by its row', async () => {
    const proxy = await TcpProxy.open(db.url);
    const behind = await RunnerStand.open(db, { poolUrl: proxy.url, using });
    try {
      behind.attached(Write, async (_job, ctx) => void (await insert(ctx.tx, 'a')));
      const runner = await behind.start();
      proxy.when({ act: () => proxy.freeze('answers'), text: 'COMMIT\0' });
      const id = await behind.enqueue(Write, { text: 'a' });
      runner.wake();
      await waitFor(async () => (await behind.job(id)).state === 'SUCCEEDED', { what: 'the commit' });
      proxy.sever();
      await behind.seenOf('job.completed', id);
      expect(await behind.effects()).toEqual(['a']);
      expect(await behind.job(id)).toMatchObject({ attempt: 1, failures: null, state: 'SUCCEEDED' });
    } finally {
      proxy.pass();
      await behind.untilIdle();
      await behind.close();
      await proxy.close();
    }
  });

  it('R4, K31: a handler that ends the transaction of its run fails, and nothing of it stays', async () => {
    stand.attached(Write, async (_job, ctx) => {
      await insert(ctx.tx, 'a');
      await ctx.tx.sql.query('COMMIT').catch(() => undefined);
    });
    const id = await runOne();
    expect(await stand.seenOf('job.retried', id)).toMatchObject({ code: 'kernel.transaction_ended' });
    expect(await stand.effects()).toEqual([]);
  });

  it('R4: a query that nobody awaited is part of the transaction; when it fails, so does the attempt', async () => {
    stand.attached(Write, async (job, ctx) => {
      void insert(ctx.tx, 'not awaited');
      if (job.payload.text === 'bad') void ctx.tx.sql.query('SELECT 1/0').catch(() => undefined);
      await Promise.resolve();
    });
    const runner = await stand.start();
    const [good, bad] = [await stand.enqueue(Write, { text: 'good' }), await stand.enqueue(Write, { text: 'bad' })];
    runner.wake();
    await stand.seenOf('job.completed', good);
    expect(await stand.seenOf('job.retried', bad)).toMatchObject({ code: 'kernel.transaction_aborted' });
    expect(await stand.effects()).toEqual(['not awaited']);
  });

  it('R4: a query that comes after the end is refused', async () => {
    let late: Transaction | undefined;
    stand.attached(Write, (_job, ctx) => {
      late = ctx.tx;
      return Promise.resolve();
    });
    await stand.seenOf('job.completed', await runOne());
    await expect(insert(late!, 'late')).rejects.toThrow(TransactionSettledError);
    expect(() => late!.afterCommit(() => undefined)).toThrow(TransactionSettledError);
    expect(() => executorOf(late!)).toThrow(TransactionSettledError);
    expect(await stand.effects()).toEqual([]);
  });

  it('K72: the stored error is the first one, not that the transaction is aborted', async () => {
    stand.attached(Write, async (_job, ctx) => {
      await ctx.tx.sql.query('SELECT 1/0').catch(() => undefined);
      await insert(ctx.tx, 'a');
    });
    const id = await runOne();
    expect((await stand.seenOf('job.retried', id)).error).toMatchObject({ code: '22012' });
    expect((await stand.job(id)).failures).toMatchObject([{ class: expect.stringContaining('22012') as string }]);
  });

  it('K115: what goes through another connection is outside the transaction, and stays when the handler throws', async () => {
    stand.attached(Write, async (_job, ctx) => {
      await insert(ctx.tx, 'inside');
      await stand.pool.query(`INSERT INTO effect VALUES ('outside')`);
      await stand.jobs.enqueue(Write, { text: 'b' }, { runIn: '1h' });
      throw new Error('after all');
    });
    const id = await runOne();
    await stand.seenOf('job.retried', id);
    expect(await stand.effects()).toEqual(['outside']);
    expect(await db.adminQuery('SELECT FROM holdfast.job')).toHaveLength(1);
  });

  it('T1, Q16: the transaction runs under the tenant of its job and the isolation of its definition', async () => {
    const Scoped = defineJob('test.scoped', { isolation: 'SERIALIZABLE', payload: type<object>() });
    const seen: unknown[] = [];
    stand.attached(Scoped, async (_job, ctx) => {
      const { rows } = await ctx.tx.sql.query(
        `SELECT current_setting('app.tenant') AS tenant, current_setting('transaction_isolation') AS isolation`,
      );
      seen.push({ ...(rows[0] as object), tenantId: ctx.tx.tenantId });
    });
    const runner = await stand.start({ tenancy: { setting: 'app.tenant' } });
    const ids = [await stand.enqueue(Scoped, {}, { tenantId: 'blue' }), await stand.enqueue(Scoped, {})];
    runner.wake();
    for (const id of ids) await stand.seenOf('job.completed', id);
    expect(seen).toContainEqual({ isolation: 'serializable', tenant: 'blue', tenantId: 'blue' });
    expect(seen).toContainEqual({ isolation: 'serializable', tenant: '', tenantId: null });
  });
});

describe('A run in its transaction, with an EntityManager', () => {
  const Note = new EntitySchema<{ id: number; text: string }>({
    columns: { id: { generated: true, primary: true, type: Number }, text: { type: String } },
    name: 'note',
  });
  let db: TestDatabase;
  let stand: RunnerStand;

  beforeAll(async () => {
    db = await standDatabase();
    await db.adminQuery('CREATE TABLE note (id serial PRIMARY KEY, text varchar NOT NULL)');
    stand = await RunnerStand.open(db, { entities: [Note], using: 'typeorm' });
  });
  afterAll(async () => {
    await stand.close();
    await db.drop();
  });

  it('R4: save() and a nested manager.transaction() stay inside: with the throw nothing remains, without it everything', async () => {
    stand.attached(Write, async (job, ctx) => {
      await ctx.tx.manager.save(Note, { text: 'saved' });
      await ctx.tx.manager.transaction((nested) => nested.save(Note, { text: 'nested' }));
      await ctx.tx.manager
        .transaction(async (nested) => {
          await nested.save(Note, { text: 'undone' });
          throw new Error('a savepoint is enough');
        })
        .catch(() => undefined);
      if (job.payload.text === 'throw') throw new Error('after all');
    });
    const runner = await stand.start();
    const thrown = await stand.enqueue(Write, { text: 'throw' });
    runner.wake();
    await stand.seenOf('job.retried', thrown);
    expect(await db.adminQuery('SELECT FROM note')).toEqual([]);
    const kept = await stand.enqueue(Write, { text: 'keep' });
    runner.wake();
    await stand.seenOf('job.completed', kept);
    expect(await db.adminQuery('SELECT text FROM note ORDER BY id')).toEqual([{ text: 'saved' }, { text: 'nested' }]);
  });
});
