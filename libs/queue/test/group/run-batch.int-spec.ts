import { PermanentError, type Transaction } from '@holdfast/kernel';
import { TcpProxy, type TestDatabase, waitFor } from '@holdfast/testing';
import { defineJob } from '../../src/domain/definition.js';
import { done, refuse, repeat } from '../../src/domain/outcome.js';
import { type } from '../../src/domain/payload.schema.js';
import type { BatchResult, BatchResults } from '../../src/handlers/batch.results.js';
import type { BatchContext, JobOf } from '../../src/handlers/handler.interface.js';
import type { Intercepting } from '../../src/handlers/job.interceptor.js';
import { type GivenHandler, handlerEntry } from '../../src/handlers/handler.entry.js';
import type { RunnerOptions } from '../../src/runner/runner.options.js';
import { eachStand } from '../each.stand.js';
import { Gate, RunnerStand } from '../runner.stand.js';

const Many = defineJob('test.many', {
  backoff: { delays: ['1h'] },
  payload: type<{ name: string }>(),
  timeout: '20s',
});
type Jobs = readonly JobOf<typeof Many>[];

const insertAll = (tx: Transaction, jobs: Jobs) =>
  tx.sql.query('INSERT INTO effect (text) SELECT unnest($1::text[])', [jobs.map(({ payload }) => payload.name)]);

describe.each(['pg', 'typeorm'] as const)('A batch of jobs, on %s', (using) => {
  let db: TestDatabase;
  let stand: RunnerStand;
  let calls: string[][];

  eachStand(
    (at) => {
      calls = [];
      ({ db, stand } = at);
    },
    { untilIdle: true, using },
  );

  /** Each batch writes the names of its jobs by one statement, and then does what `act` says. */
  const handle = (
    act: (names: readonly string[], ctx: BatchContext, jobs: Jobs) => Promise<BatchResults | void> = async () =>
      undefined,
    on = stand,
  ) => {
    const runBatch = async (jobs: Jobs, ctx: BatchContext) => {
      const names = jobs.map(({ payload }) => payload.name);
      calls.push(names);
      await insertAll(ctx.tx, jobs);
      return act(names, ctx, jobs);
    };
    const given = { batchSize: 100, definition: Many, handler: { runBatch }, mode: 'batch', source: 'the test' };
    on.registry.register(handlerEntry(given as unknown as GivenHandler));
  };
  const enqueued = async (names: readonly string[], on = stand) => {
    const ids: Record<string, string> = {};
    for (const name of names) ids[name] = await on.enqueue(Many, { name });
    return ids;
  };
  const run = async (names: readonly string[], options: RunnerOptions = {}) => {
    const ids = await enqueued(names);
    await stand.start({ slots: 50, ...options });
    return ids;
  };
  const completed = async (ids: Record<string, string>, names = Object.keys(ids)) => {
    for (const name of names) await stand.seenOf('job.completed', ids[name]!);
  };
  const stateOf = async (id: string) => {
    const { attempt, failures, state } = await stand.job(id);
    return { attempt, codes: failures?.map(({ code }) => code) ?? [], state };
  };
  const SUCCEEDED = { attempt: 1, codes: [], state: 'SUCCEEDED' };

  it('R21: jobs that wait are run by one call in one transaction, each with its own result', async () => {
    const hooked: string[] = [];
    handle(async (_names, ctx, jobs) => {
      ctx.tx.afterCommit(() => void hooked.push('after'));
      expect(await stand.effects()).toEqual([]);
      return new Map<string, BatchResult>([
        [jobs[1]!.id, done({ counts: { rows: 2 }, outcome: 'test.fine' })],
        [jobs[2]!.id, repeat('1h')],
      ]);
    });
    const ids = await run(['a', 'b', 'c']);
    expect(await stand.seen('group.committed')).toMatchObject({ kind: Many.kind, members: 3 });
    expect(await stand.seenOf('job.completed', ids['b']!)).toMatchObject({ counts: { rows: 2 }, outcome: 'test.fine' });
    expect(await stand.seenOf('job.completed', ids['c']!)).toMatchObject({ verb: 'repeat' });
    await completed(ids, ['a']);
    expect([calls, hooked]).toEqual([[['a', 'b', 'c']], ['after']]);
    expect(await stand.effects()).toEqual(['a', 'b', 'c']);
    expect(await stateOf(ids['a']!)).toEqual(SUCCEEDED);
    expect(await stand.job(ids['c']!)).toMatchObject({ attempt: 0, state: 'PENDING' });
  });

  it('R12, R21: who is refused or has failed is recorded alone, and nothing of it commits; the others commit, each once', async () => {
    handle(async (names) =>
      names.map((name) => {
        if (name === 'b') return refuse('test.no');
        return name === 'd' ? new PermanentError('test.bad') : undefined;
      }),
    );
    const ids = await run(['a', 'b', 'c', 'd']);
    await stand.seenOf('job.refused', ids['b']!);
    expect(await stand.seenOf('job.dead_lettered', ids['d']!)).toMatchObject({ code: 'test.bad' });
    expect(await stand.seen('group.rerun')).toMatchObject({ by: { id: ids['b'] }, members: 2 });
    await completed(ids, ['a', 'c']);
    expect(calls).toEqual([
      ['a', 'b', 'c', 'd'],
      ['a', 'c'],
    ]);
    expect(await stand.effects()).toEqual(['a', 'c']);
    expect(await stateOf(ids['b']!)).toEqual({ attempt: 1, codes: [], state: 'FAILED' });
    expect(await stateOf(ids['d']!)).toEqual({ attempt: 1, codes: ['test.bad'], state: 'DEAD_LETTER' });
  });

  const send = async ({ tx }: BatchContext, text: string): Promise<undefined> => {
    await tx.sql.query(text).catch(() => undefined);
  };
  it.each<[string, string, (ctx: BatchContext) => Promise<BatchResults | undefined>]>([
    ['throws', 'test.bad', () => Promise.reject(new PermanentError('test.bad'))],
    ['answers too few results', 'queue.invalid_outcome', () => Promise.resolve([])],
    ['swallows a SQL error', 'kernel.transaction_aborted', (ctx) => send(ctx, 'SELECT 1/0')],
    ['tries to end the transaction', 'kernel.transaction_ended', (ctx) => send(ctx, 'COMMIT')],
    ['leaves a constraint violated', '23505', (ctx) => send(ctx, `INSERT INTO effect VALUES ('x', 1), ('y', 1)`)],
  ])('R21: a batch that %s is run job by job, no attempt spent; who fails alone is recorded', async (_, code, act) => {
    handle(async (names, ctx) => (names.includes('b') ? act(ctx) : undefined));
    const ids = await run(['a', 'b', 'c']);
    const failed = (await stand.seen('group.rerun')).error as { code: string };
    expect(failed.code).toBe(code);
    await completed(ids, ['a', 'c']);
    await waitFor(async () => (await stand.job(ids['b']!)).failures !== null, { what: 'its failure' });
    expect(calls).toEqual([['a', 'b', 'c'], ['a'], ['b'], ['c']]);
    expect(await stand.effects()).toEqual(['a', 'c']);
    expect(await stateOf(ids['b']!)).toMatchObject({ attempt: 1 });
    for (const name of ['a', 'c']) expect(await stateOf(ids[name]!)).toEqual(SUCCEEDED);
  });

  it('R6: a batch that is out of time aborts its signal and costs nobody an attempt; alone, the slow one spends its own', async () => {
    const gate = new Gate();
    const reasons: unknown[] = [];
    handle(async (names, ctx) => {
      if (!names.includes('b')) return;
      ctx.signal.addEventListener('abort', () => reasons.push(ctx.signal.reason));
      await gate.opened;
    });
    const ids = await run(['a', 'b', 'c'], { kinds: { [Many.kind]: { timeout: '500ms' } } });
    expect(await stand.seenOf('job.retried', ids['b']!)).toMatchObject({ code: 'queue.timed_out' });
    await completed(ids, ['a', 'c']);
    expect(reasons).toMatchObject([{ code: 'queue.timed_out' }, { code: 'queue.timed_out' }]);
    gate.open();
    expect(await stand.effects()).toEqual(['a', 'c']);
    expect(await stateOf(ids['b']!)).toEqual({ attempt: 1, codes: ['queue.timed_out'], state: 'PENDING' });
    for (const name of ['a', 'c']) expect(await stateOf(ids[name]!)).toEqual(SUCCEEDED);
  });

  it('R16: a job that is cancelled leaves the batch; the others go together once more', async () => {
    handle(async (names, ctx, jobs) => {
      if (!names.includes('b')) return;
      await stand.store.cancel(jobs[1]!.id);
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
      expect(ctx.signal.reason).toMatchObject({ code: 'queue.cancelled' });
    });
    const ids = await run(['a', 'b', 'c'], { cancelEveryMs: 50 });
    await stand.seenOf('job.cancelled', ids['b']!);
    await completed(ids, ['a', 'c']);
    expect(calls).toEqual([
      ['a', 'b', 'c'],
      ['a', 'c'],
    ]);
    expect(await stand.effects()).toEqual(['a', 'c']);
    expect(await stateOf(ids['b']!)).toMatchObject({ codes: [], state: 'CANCELLED' });
  });

  it('R2: a job that has lost its lease is lost alone; the others commit', async () => {
    handle(async (names) => {
      if (names.length === 3)
        await db.adminQuery(`UPDATE holdfast.job SET lease_token = gen_random_uuid() WHERE payload->>'name' = 'b'`);
    });
    const ids = await run(['a', 'b', 'c']);
    await stand.seenOf('job.lost', ids['b']!);
    await completed(ids, ['a', 'c']);
    expect(await stand.effects()).toEqual(['a', 'c']);
    expect(await stand.job(ids['b']!)).toMatchObject({ failures: null, state: 'RUNNING' });
  });

  it('R5: a connection that is lost in mid-batch costs nobody an attempt', async () => {
    handle(async (_names, ctx) => {
      if (calls.length > 1) return;
      const { rows } = await ctx.tx.sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await db.terminateBackends('pid = $1', [rows[0]!.pid]);
    });
    const ids = await run(['a', 'b', 'c']);
    await completed(ids);
    expect(await stand.effects()).toEqual(['a', 'b', 'c']);
    for (const id of Object.values(ids)) expect(await stateOf(id)).toEqual(SUCCEEDED);
  });

  it('R9: a batch of one that loses against another transaction is run again at once', async () => {
    handle(async (_names, ctx) => {
      if (calls.length === 1) await ctx.tx.sql.query(`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$`);
    });
    const ids = await run(['a']);
    await stand.seenOf('job.rerun', ids['a']!);
    await completed(ids);
    expect(await stateOf(ids['a']!)).toEqual(SUCCEEDED);
  });

  it('R3: a COMMIT whose answer was lost has committed all of the batch, known by their rows', async () => {
    const proxy = await TcpProxy.open(db.url);
    const behind = await RunnerStand.open(db, { poolUrl: proxy.url, using });
    try {
      handle(undefined, behind);
      proxy.when({ act: () => proxy.freeze('answers'), text: 'COMMIT\0' });
      const ids = Object.values(await enqueued(['a', 'b', 'c'], behind));
      await behind.start({ slots: 50 });
      await waitFor(async () => (await behind.job(ids[0]!)).state === 'SUCCEEDED', { what: 'the commit' });
      proxy.sever();
      for (const id of ids) await behind.seenOf('job.completed', id);
      expect([await behind.effects(), calls.length]).toEqual([['a', 'b', 'c'], 1]);
    } finally {
      proxy.pass();
      await behind.untilIdle();
      await behind.close();
      await proxy.close();
    }
  });

  it('T1: a batch is one of one tenant', async () => {
    const seen: unknown[] = [];
    handle(async (names, ctx, jobs) => {
      const { rows } = await ctx.tx.sql.query<{ t: string }>(`SELECT current_setting('app.tenant') AS t`);
      seen.push([rows[0]!.t, ctx.tx.tenantId, jobs.map(({ tenantId }) => tenantId), names]);
    });
    const ids: string[] = [];
    for (const [name, tenantId] of [['a', 'blue'], ['b', 'red'], ['c', null], ['d', 'blue'], ['e', null]] as const)
      ids.push(await stand.enqueue(Many, { name }, { tenantId })); // prettier-ignore
    await stand.start({ slots: 50, tenancy: { setting: 'app.tenant' } });
    for (const id of ids) await stand.seenOf('job.completed', id);
    expect(seen).toEqual([
      ['blue', 'blue', ['blue', 'blue'], ['a', 'd']],
      ['red', 'red', ['red'], ['b']],
      ['', null, [null, null], ['c', 'e']],
    ]);
  });

  it('R4, R11: the handle is dead after the batch; any of its jobs may be held, and no other', async () => {
    let late: Transaction | undefined;
    let refused: unknown;
    handle(async (_names, ctx, jobs) => {
      late = ctx.tx;
      for (const job of jobs) await ctx.hold(job);
      refused = await ctx.hold({ id: '999' }).catch((error: unknown) => error);
    });
    const ids = await run(['a', 'b']);
    await completed(ids);
    expect(refused).toMatchObject({ code: 'queue.lease_lost' });
    await expect(late!.sql.query('SELECT 1')).rejects.toMatchObject({ code: 'kernel.transaction_settled' });
    await waitFor(async () => (await db.adminQuery('SELECT FROM holdfast.job_hold')).length === 0, { what: 'no hold' });
  });

  it('R17: a shutdown past its grace gives all of the batch back with their attempts', async () => {
    const gate = new Gate();
    handle(async () => gate.pass());
    const ids = await enqueued(['a', 'b', 'c']);
    const runner = await stand.start({ abortWaitMs: 200, graceMs: 100, slots: 50 });
    await gate.reached;
    const drained = runner.drain();
    for (const id of Object.values(ids)) await stand.seenOf('job.given_back', id);
    expect(await drained).toEqual({ abandoned: 3, givenBack: 3 });
    gate.open();
    expect(await stand.effects()).toEqual([]);
    for (const id of Object.values(ids)) expect(await stateOf(id)).toEqual({ attempt: 0, codes: [], state: 'PENDING' });
  });

  it('R20: interceptors stand around the batch, and one that does not know batches is refused at the start', async () => {
    const around: unknown[] = [];
    const interceptor: Intercepting<typeof Many> = {
      intercept: async (_call, next) => next(),
      interceptBatch: async ({ jobs }, next) => {
        const results = await next();
        around.push([jobs.map(({ payload }) => payload.name), results.length]);
        return results;
      },
    };
    stand.interceptors.register({ interceptor, source: 'a good one' });
    handle();
    await completed(await run(['a', 'b']));
    expect(around).toEqual([[['a', 'b'], 2]]);
    stand.interceptors.register({ interceptor: { intercept: interceptor.intercept }, source: 'a blind one' });
    await expect(stand.runner().start()).rejects.toThrow(/a blind one.*no interceptBatch/);
  });

  it('R19: a start says which batches cannot be full', async () => {
    handle();
    await stand.start({ slots: 10 });
    const { connections, warnings } = await stand.seen('runner.started');
    expect(connections[0]).toMatchObject({ connections: 1 });
    expect(warnings).toEqual([expect.stringContaining('Batches of test.many hold 10 jobs at most and not 100')]);
  });

  it('R21: every effect is there once when jobs of a thousand fail, each in its own way', async () => {
    const fates = new Map<string, number>();
    handle(async (names, ctx) => {
      const poison = names.find((name) => Number(name) % 97 === 13 && (fates.get(name) ?? 0) < 1);
      if (poison) {
        fates.set(poison, 1);
        if (Number(poison) % 2) throw new Error('the whole batch');
        await ctx.tx.sql.query('SELECT 1/0');
      }
      return names.map((name) => (Number(name) % 50 === 7 ? refuse('test.no') : undefined));
    });
    const names = Array.from({ length: 400 }, (_, n) => String(n));
    await stand.jobs.enqueueMany(
      names.map((name) => Many.request({ name })),
      { in: 'own' },
    );
    await stand.start({ pollMs: 100, slots: 200 });
    const live = () => db.adminQuery('SELECT FROM holdfast.job WHERE state IN (0, 1)');
    await waitFor(async () => (await live()).length === 0, { deadlineMs: 90_000, what: 'every job to have ended' });
    const stay = names.filter((name) => Number(name) % 50 !== 7);
    expect(await stand.effects()).toEqual(stay.sort());
    expect(await db.adminQuery('SELECT FROM holdfast.job WHERE attempt <> 1')).toEqual([]);
  }, 120_000);
});
