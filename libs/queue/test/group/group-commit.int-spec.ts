import type { Transaction } from '@holdfast/kernel';
import { PermanentError } from '@holdfast/kernel';
import { TcpProxy, type TestDatabase, waitFor } from '@holdfast/testing';
import { defineJob } from '../../src/domain/definition.js';
import { done, type Outcome, refuse, repeat } from '../../src/domain/outcome.js';
import { type } from '../../src/domain/payload.schema.js';
import type { AttachedContext } from '../../src/handlers/handler.interface.js';
import type { RunnerOptions } from '../../src/runner/runner.options.js';
import { emptied, Gate, RunnerStand, standDatabase, unhandledRejections } from '../runner.stand.js';

interface Member {
  readonly name: string;
  readonly unreadable?: boolean;
}

const groupCommit = { delay: '20ms', size: 32 };
const backoff = { delays: ['1h'] as [string] };
const Small = defineJob('test.small', { backoff, groupCommit, payload: type<Member>(), timeout: '20s' });
const Other = defineJob('test.other', { payload: type<object>() });

const insert = (tx: Transaction, text: string, n: number | null = null) =>
  tx.sql.query('INSERT INTO effect VALUES ($1, $2)', [text, n]);

describe.each(['pg', 'typeorm'] as const)('A group of runs, on %s', (using) => {
  let db: TestDatabase;
  let stand: RunnerStand;
  let calls: string[];
  const unhandled = unhandledRejections();

  beforeAll(async () => (db = await standDatabase()));
  beforeEach(async () => {
    await emptied(db);
    calls = [];
    stand = await RunnerStand.open(db, { using });
  });
  afterEach(async () => {
    await stand.untilIdle();
    await stand.close();
    expect(unhandled).toEqual([]);
  });
  afterAll(() => db.drop());

  /** Each member writes its name, and then does what `act` says. */
  const handle = (
    act: (name: string, ctx: AttachedContext, call: number) => Promise<Outcome | void> = async () => undefined,
  ) =>
    stand.attached(Small, async ({ payload: { name } }, ctx) => {
      calls.push(name);
      await insert(ctx.tx, name);
      return act(name, ctx, calls.filter((called) => called === name).length);
    });
  /** run enqueues members in order, starts a runner that claims them together, and answers their ids by name. */
  const run = async (names: readonly string[], options: RunnerOptions = {}) => {
    const ids: Record<string, string> = {};
    for (const name of names) ids[name] = await stand.enqueue(Small, { name });
    await stand.start(options);
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

  it('R21: small jobs that were claimed together commit together, and their events and hooks come after it', async () => {
    const seen: string[] = [];
    const transactions = new Set<unknown>();
    handle(async (name, ctx) => {
      ctx.tx.afterCommit(() => void seen.push(name));
      const { rows } = await ctx.tx.sql.query<{ id: string }>('SELECT pg_current_xact_id()::text AS id');
      transactions.add(rows[0]!.id);
      expect(await stand.effects()).toEqual([]);
      expect(seen).toEqual([]);
      return name === 'b' ? done({ outcome: 'test.b' }) : undefined;
    });
    const ids = await run(['a', 'b', 'c']);
    expect(await stand.seen('group.committed')).toMatchObject({ kind: Small.kind, members: 3 });
    await completed(ids);
    expect(calls).toEqual(['a', 'b', 'c']);
    expect(seen).toEqual(['a', 'b', 'c']);
    expect(transactions.size).toBe(1);
    expect(await stand.effects()).toEqual(['a', 'b', 'c']);
    for (const id of Object.values(ids)) expect(await stateOf(id)).toEqual(SUCCEEDED);
    expect(await stand.job(ids['b']!)).toMatchObject({ lease_token: null, outcome: 'test.b' });
  });

  it('R21: a member that fails is recorded alone, with its own attempt; the others commit, each effect once', async () => {
    handle(async (name) => {
      if (name === 'b') throw new PermanentError('test.bad');
    });
    const ids = await run(['a', 'b', 'c']);
    const rerun = await stand.seen('group.rerun');
    expect(rerun).toMatchObject({ by: { id: ids['b'] }, error: { code: 'test.bad' }, members: 2 });
    await completed(ids, ['a', 'c']);
    expect(await stand.seenOf('job.dead_lettered', ids['b']!)).toMatchObject({ code: 'test.bad' });
    expect(calls).toEqual(['a', 'b', 'a', 'b', 'c']);
    expect(await stand.effects()).toEqual(['a', 'c']);
    expect(await stateOf(ids['b']!)).toEqual({ attempt: 1, codes: ['test.bad'], state: 'DEAD_LETTER' });
    for (const name of ['a', 'c']) expect(await stateOf(ids[name]!)).toEqual(SUCCEEDED);
  });

  it('R11, R12: a repetition commits with the others; a refusal is recorded alone and leaves none of its writes', async () => {
    handle(async (name) => {
      if (name === 'b') return repeat('1h', { outcome: 'test.again' });
      if (name === 'd') return refuse('test.no', { why: 'rule' });
    });
    const first = await run(['a', 'b', 'c']);
    expect(await stand.seen('group.committed')).toMatchObject({ members: 3 });
    await completed(first);
    expect(await stand.job(first['b']!)).toMatchObject({ attempt: 0, outcome: 'test.again', state: 'PENDING' });
    expect((await stand.job(first['b']!)).due_in_ms).toBeGreaterThan(3_000_000);
    const second = await run(['d', 'e']);
    await stand.seenOf('job.refused', second['d']!);
    await completed(second, ['e']);
    expect(await stand.job(second['d']!)).toMatchObject({ attempt: 1, refusal: { code: 'test.no' }, state: 'FAILED' });
    expect(await stand.effects()).toEqual(['a', 'b', 'c', 'e']);
  });

  it.each([
    ['R3: swallows a SQL error', 'kernel.transaction_aborted', 'SELECT 1/0'],
    ['R4: tries to end the transaction', 'kernel.transaction_ended', 'COMMIT'],
    ['R4: ends the transaction behind another statement', 'kernel.transaction_ended', 'SELECT 1; COMMIT; BEGIN'],
    ['R4: ends the transaction in a block', 'kernel.transaction_aborted', 'DO $$ BEGIN COMMIT; END $$'],
  ])('a member that %s fails alone', async (_, code, text) => {
    handle(async (name, ctx) => {
      if (name === 'b') await ctx.tx.sql.query(text).catch(() => undefined);
    });
    const ids = await run(['a', 'b', 'c']);
    expect(await stand.seenOf('job.retried', ids['b']!)).toMatchObject({ error: { code } });
    await completed(ids, ['a', 'c']);
    // What a handler commits behind the runner's back, it has committed: its own writes, and nobody else's.
    const own = text.startsWith('SELECT 1; COMMIT') ? ['b'] : [];
    expect(await stand.effects()).toEqual(['a', ...own, 'c']);
    expect(await stateOf(ids['b']!)).toMatchObject({ attempt: 1, state: 'PENDING' });
  });

  it('R3: a deferred constraint that a member leaves violated is its own failure: the next one cannot put it right', async () => {
    await db.adminQuery(`INSERT INTO effect VALUES ('there', 1)`);
    handle(async (name, ctx) => {
      if (name === 'a') await insert(ctx.tx, 'twice', 1);
      if (name === 'b') await ctx.tx.sql.query(`DELETE FROM effect WHERE text = 'there'`);
    });
    const ids = await run(['a', 'b']);
    expect((await stand.seenOf('job.retried', ids['a']!)).error).toMatchObject({ code: '23505' });
    await completed(ids, ['b']);
    expect(await stand.effects()).toEqual(['b']);
  });

  it('R6: a member that is out of time spends its own attempt; the others commit', async () => {
    const gate = new Gate();
    handle(async (name) => (name === 'b' ? gate.pass() : undefined));
    const ids = await run(['a', 'b', 'c'], { kinds: { [Small.kind]: { timeout: '500ms' } } });
    expect(await stand.seenOf('job.retried', ids['b']!)).toMatchObject({ code: 'queue.timed_out' });
    await completed(ids, ['a', 'c']);
    gate.open();
    expect(await stand.effects()).toEqual(['a', 'c']);
    expect(await stateOf(ids['b']!)).toEqual({ attempt: 1, codes: ['queue.timed_out'], state: 'PENDING' });
    for (const name of ['a', 'c']) expect(await stateOf(ids[name]!)).toEqual(SUCCEEDED);
  });

  it('R2: a member that has lost its lease leaves nothing and records nothing; the others commit', async () => {
    handle(async (name) => {
      if (name === 'b')
        await db.adminQuery(`UPDATE holdfast.job SET lease_token = gen_random_uuid() WHERE payload->>'name' = 'b'`);
    });
    const ids = await run(['a', 'b', 'c']);
    expect(await stand.seen('group.rerun')).toMatchObject({ error: { code: 'queue.lease_lost' }, members: 3 });
    expect((await stand.seenOf('job.lost', ids['b']!)).error).toMatchObject({ code: 'queue.lease_lost' });
    await completed(ids, ['a', 'c']);
    expect(calls.filter((name) => name === 'b')).toHaveLength(1);
    expect(await stand.effects()).toEqual(['a', 'c']);
    expect(await stand.job(ids['b']!)).toMatchObject({ failures: null, state: 'RUNNING' });
  });

  it('R5: a connection that is lost in mid-group costs nobody an attempt', async () => {
    handle(async (name, ctx, call) => {
      if (name !== 'b' || call > 1) return;
      const { rows } = await ctx.tx.sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await db.terminateBackends('pid = $1', [rows[0]!.pid]);
    });
    const ids = await run(['a', 'b', 'c']);
    await completed(ids);
    expect(await stand.effects()).toEqual(['a', 'b', 'c']);
    for (const id of Object.values(ids)) expect(await stateOf(id)).toEqual(SUCCEEDED);
  });

  it('R16: a member that is cancelled after its part ends as CANCELLED and leaves nothing; the others commit', async () => {
    const gate = new Gate();
    handle(async (name, _ctx, call) => (name === 'b' && call === 1 ? gate.pass() : undefined));
    const ids = await run(['a', 'b', 'c'], { cancelEveryMs: 50 });
    await gate.reached;
    const open = `application_name = 'app' AND state = 'idle in transaction' AND datname = current_database()`;
    const isOpen = async () => (await db.adminQuery(`SELECT FROM pg_stat_activity WHERE ${open}`)).length > 0;
    expect(await isOpen()).toBe(true);
    await stand.store.cancel(ids['a']!);
    await waitFor(async () => !(await isOpen()), { what: 'the transaction of the group to be gone' });
    gate.open();
    const rerun = await stand.seen('group.rerun');
    expect(rerun).toMatchObject({ by: { id: ids['a'] }, error: { code: 'queue.cancelled' } });
    await stand.seenOf('job.cancelled', ids['a']!);
    await completed(ids, ['b', 'c']);
    expect(await stand.effects()).toEqual(['b', 'c']);
    expect(await stateOf(ids['a']!)).toMatchObject({ codes: [], state: 'CANCELLED' });
    for (const name of ['b', 'c']) expect(await stateOf(ids[name]!)).toEqual(SUCCEEDED);
  });

  it('R16: a member that is cancelled before its part does not begin; the group goes on without it', async () => {
    const gate = new Gate();
    handle(async (name) => (name === 'a' ? gate.pass() : undefined));
    const ids = await run(['a', 'b', 'c'], { cancelEveryMs: 50 });
    await gate.reached;
    const asked = jest.spyOn(stand.store, 'cancelsOf');
    await stand.store.cancel(ids['b']!);
    const seen = async () =>
      (await Promise.all(asked.mock.results.map(({ value }) => value as Promise<unknown[]>))).flat();
    await waitFor(async () => (await seen()).length > 0, { what: 'the cancel to be seen' });
    gate.open();
    await stand.seenOf('job.cancelled', ids['b']!);
    await completed(ids, ['a', 'c']);
    expect(calls).toEqual(['a', 'c']);
    expect(await stand.effects()).toEqual(['a', 'c']);
  });

  it('R3: a COMMIT whose answer was lost has committed every member or none, known by their rows', async () => {
    const proxy = await TcpProxy.open(db.url);
    const behind = await RunnerStand.open(db, { poolUrl: proxy.url, using });
    try {
      behind.attached(Small, async ({ payload: { name } }, ctx) => {
        await insert(ctx.tx, name);
        return name === 'b' ? repeat('1h') : undefined;
      });
      proxy.when({ act: () => proxy.freeze('answers'), text: 'COMMIT\0' });
      const ids: string[] = [];
      for (const name of ['a', 'b', 'c']) ids.push(await behind.enqueue(Small, { name }));
      await behind.start();
      await waitFor(async () => (await behind.job(ids[0]!)).state === 'SUCCEEDED', { what: 'the commit' });
      proxy.sever();
      for (const id of ids) await behind.seenOf('job.completed', id);
      expect(await behind.effects()).toEqual(['a', 'b', 'c']);
      expect(await behind.job(ids[1]!)).toMatchObject({ attempt: 0, state: 'PENDING' });
    } finally {
      proxy.pass();
      await behind.untilIdle();
      await behind.close();
      await proxy.close();
    }
  });

  it('R3, R5: a COMMIT that never arrived has committed none: all of them are run again, no attempt is spent', async () => {
    const proxy = await TcpProxy.open(db.url);
    const behind = await RunnerStand.open(db, { poolUrl: proxy.url, using });
    try {
      behind.attached(Small, async ({ payload: { name } }, ctx) => void (await insert(ctx.tx, name)));
      proxy.when({ act: () => proxy.sever(), moment: 'before', text: 'COMMIT\0' });
      const ids: string[] = [];
      for (const name of ['a', 'b', 'c']) ids.push(await behind.enqueue(Small, { name }));
      await behind.start();
      for (const id of ids) await behind.seenOf('job.completed', id);
      expect(await behind.effects()).toEqual(['a', 'b', 'c']);
      for (const id of ids) expect(await behind.job(id)).toMatchObject({ attempt: 1, failures: null, losses: 0 });
    } finally {
      proxy.pass();
      await behind.untilIdle();
      await behind.close();
      await proxy.close();
    }
  });

  it('R11: a member may hold its key, also when it is run twice', async () => {
    handle(async (name, ctx, call) => {
      await ctx.hold();
      if (name === 'b' && call === 1) throw Object.assign(new Error('once'), { code: '40001', severity: 'ERROR' });
    });
    const ids: Record<string, string> = {};
    for (const name of ['a', 'b']) ids[name] = await stand.enqueue(Small, { name }, { dedupeKey: name });
    await stand.start();
    await completed(ids);
    await waitFor(async () => (await db.adminQuery('SELECT FROM holdfast.job_hold')).length === 0, { what: 'no hold' });
  });

  it.each(['40001', '40P01'])(
    'R9: a member that loses against another transaction (%s) is run again at once',
    async (code) => {
      handle(async (name, ctx, call) => {
        if (name === 'b' && call === 1)
          await ctx.tx.sql.query(`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '${code}'; END $$`);
      });
      const ids = await run(['a', 'b', 'c']);
      await completed(ids);
      expect(await stand.effects()).toEqual(['a', 'b', 'c']);
      for (const id of Object.values(ids)) expect(await stateOf(id)).toEqual(SUCCEEDED);
    },
  );

  it('R4: the handle of a member is dead when its part is over, before the group commits', async () => {
    let first: Transaction | undefined;
    const late: unknown[] = [];
    handle(async (name, ctx) => {
      first ??= ctx.tx;
      if (name === 'b') await insert(first, 'late').catch((error: unknown) => late.push(error));
    });
    await completed(await run(['a', 'b']));
    expect(late).toMatchObject([{ code: 'kernel.transaction_settled' }]);
    expect(await stand.effects()).toEqual(['a', 'b']);
  });

  it('K31: what a member sets for the rest of the transaction is not found by the next one', async () => {
    const seen: string[] = [];
    handle(async (name, ctx) => {
      const { rows } = await ctx.tx.sql.query<{ mem: string }>(`SELECT current_setting('work_mem') AS mem`);
      seen.push(rows[0]!.mem);
      if (name === 'b') await ctx.tx.sql.query(`SET LOCAL work_mem = '64kB'`);
      if (name === 'c') await ctx.tx.sql.query('CREATE TEMP TABLE mine (a int) ON COMMIT DROP');
    });
    const ids = await run(['a', 'b', 'c', 'd']);
    await completed(ids);
    expect(seen).toEqual(['4MB', '4MB', '4MB', '4MB']);
    expect(calls).toEqual(['a', 'b', 'c', 'd']);
    expect(await stand.effects()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('Q3: a payload that cannot be read fails alone, without a group having been made for it', async () => {
    const Picky = defineJob('test.small', {
      backoff,
      codec: { decode: (stored) => { if (stored['unreadable']) throw new Error('no'); return stored; }, encode: (given) => given as never },
      groupCommit,
      payload: type<Member>(),
    }); // prettier-ignore
    stand.attached(Picky, async (job, ctx) => void (await insert(ctx.tx, job.payload.name)));
    const bad = await stand.enqueue(Small, { name: 'bad', unreadable: true });
    const ids = await run(['a', 'b']);
    await stand.seenOf('job.dead_lettered', bad);
    expect(await stand.seen('group.committed')).toMatchObject({ members: 2 });
    await completed(ids);
  });

  it('Q1: follow-up jobs of members are there when the group has committed, and not before or otherwise', async () => {
    stand.attached(Other, () => Promise.resolve());
    handle(async (name, _ctx, call) => {
      await stand.jobs.enqueue(Other, {}, { dedupeKey: name, runIn: '1h' });
      expect(await db.adminQuery(`SELECT FROM holdfast.job WHERE kind = 'test.other'`)).toEqual([]);
      if (name === 'c' && call === 1) throw Object.assign(new Error('once'), { code: '40001', severity: 'ERROR' });
    });
    const ids = await run(['a', 'b']);
    await completed(ids);
    expect(await db.adminQuery(`SELECT FROM holdfast.job WHERE kind = 'test.other'`)).toHaveLength(2);
  });

  it('R21: a member that comes within the delay joins; one that comes when the group has begun waits for the next', async () => {
    const Patient = defineJob('test.small', { groupCommit: { delay: '1s', size: 32 }, payload: type<Member>() });
    const gate = new Gate();
    stand.attached(Patient, async ({ payload: { name } }) => {
      calls.push(name);
      if (name === 'b') await gate.pass();
    });
    const runner = await stand.start();
    const claimed = async (name: string) => {
      const id = await stand.enqueue(Small, { name });
      runner.wake();
      await stand.seenOf('job.started', id);
      return id;
    };
    const [a, b] = [await claimed('a'), await claimed('b')];
    await gate.reached;
    const c = await claimed('c');
    expect(calls).toEqual(['a', 'b']);
    gate.open();
    expect((await stand.seen('group.committed')).members).toBe(2);
    for (const id of [a, b, c]) await stand.seenOf('job.completed', id);
  });

  it('Q12: a suspect shares no transaction', async () => {
    const transactions: Record<string, string> = {};
    handle(async (name, ctx) => {
      const { rows } = await ctx.tx.sql.query<{ id: string }>('SELECT pg_current_xact_id()::text AS id');
      transactions[name] = rows[0]!.id;
    });
    for (const name of ['a', 'b', 's']) await stand.enqueue(Small, { name });
    await db.adminQuery(`UPDATE holdfast.job SET suspect = true WHERE payload->>'name' IN ('s', 'b')`);
    await stand.start({ pollMs: 100 });
    await waitFor(async () => (await stand.effects()).length === 3, { what: 'all of them' });
    expect(new Set(Object.values(transactions)).size).toBe(3);
  });

  it('R17: a drain waits for no more members, and lets those that are there commit', async () => {
    const Patient = defineJob('test.small', { groupCommit: { delay: '1s', size: 32 }, payload: type<Member>() });
    stand.attached(Patient, async (job, ctx) => void (await insert(ctx.tx, job.payload.name)));
    const ids: Record<string, string> = {};
    for (const name of ['a', 'b']) ids[name] = await stand.enqueue(Small, { name });
    // The grace is over before the delay is.
    const runner = await stand.start({ graceMs: 800 });
    for (const id of Object.values(ids)) await stand.seenOf('job.started', id);
    const drained = runner.drain();
    await completed(ids);
    expect(await drained).toEqual({ abandoned: 0, givenBack: 0 });
    expect(await stand.effects()).toEqual(['a', 'b']);
  });

  it('R17: a shutdown past its grace gives every member back with its attempt, begun or not', async () => {
    const gate = new Gate();
    handle(async (name) => (name === 'b' ? gate.pass() : undefined));
    const ids: Record<string, string> = {};
    for (const name of ['a', 'b', 'c']) ids[name] = await stand.enqueue(Small, { name });
    const runner = await stand.start({ abortWaitMs: 200, graceMs: 100 });
    await gate.reached;
    const drained = runner.drain();
    for (const id of Object.values(ids)) await stand.seenOf('job.given_back', id);
    expect(await drained).toEqual({ abandoned: 1, givenBack: 3 });
    gate.open();
    expect(await stand.effects()).toEqual([]);
    for (const id of Object.values(ids)) expect(await stateOf(id)).toEqual({ attempt: 0, codes: [], state: 'PENDING' });
  });

  it('Q13: a group ends where the timeout of the next member does not fit the leases any more; it goes with the next group, or back', async () => {
    handle(async (name) => {
      if (name === 'b') await new Promise((resolve) => setTimeout(resolve, 1_200));
    });
    const ids = await run(['a', 'b', 'c', 'd'], {
      leases: { attachedMarginMs: 1_500, boundMarginMs: 500 },
      pollMs: 200,
    });
    await completed(ids);
    expect((await stand.seen('group.committed')).members).toBe(2);
    expect(calls.slice(0, 2)).toEqual(['a', 'b']);
    // What went back is claimed again, in whichever order.
    expect(calls.slice(2).sort()).toEqual(['c', 'd']);
    for (const id of Object.values(ids)) expect(await stateOf(id)).toEqual(SUCCEEDED);
  });

  it('T1: each member runs under its own tenant, and sees nothing of the others', async () => {
    await db.adminQuery(`
      CREATE TABLE IF NOT EXISTS owned (tenant text DEFAULT current_setting('app.tenant'), name text);
      TRUNCATE owned;
      ALTER TABLE owned ENABLE ROW LEVEL SECURITY; ALTER TABLE owned FORCE ROW LEVEL SECURITY;
      DROP POLICY IF EXISTS own ON owned;
      CREATE POLICY own ON owned USING (tenant = current_setting('app.tenant'));
      GRANT ALL ON owned TO PUBLIC`);
    const role = await db.createRole({ attributes: 'NOSUPERUSER NOBYPASSRLS' });
    await stand.close();
    stand = await RunnerStand.open(db, { poolUrl: role.url, using });
    const seen: unknown[] = [];
    stand.attached(Small, async ({ payload: { name }, tenantId }, ctx) => {
      await ctx.tx.sql.query('INSERT INTO owned (name) VALUES ($1)', [name]);
      const { rows } = await ctx.tx.sql.query<{ name: string }>('SELECT name FROM owned ORDER BY name');
      seen.push([name, tenantId, ctx.tx.tenantId, rows.map((row) => row.name)]);
    });
    await db.adminQuery(`GRANT USAGE ON SCHEMA holdfast TO PUBLIC; GRANT ALL ON ALL TABLES IN SCHEMA holdfast TO PUBLIC;
      GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA holdfast TO PUBLIC; GRANT USAGE ON ALL SEQUENCES IN SCHEMA holdfast TO PUBLIC`);
    const ids: string[] = [];
    for (const [name, tenantId] of [['a', 'blue'], ['b', 'red'], ['c', undefined], ['d', 'blue']] as const)
      ids.push(await stand.enqueue(Small, { name }, tenantId ? { tenantId } : {})); // prettier-ignore
    await stand.start({ tenancy: { setting: 'app.tenant' } });
    for (const id of ids) await stand.seenOf('job.completed', id);
    expect((await stand.seen('group.committed')).members).toBe(4);
    expect(seen).toEqual([
      ['a', 'blue', 'blue', ['a']],
      ['b', 'red', 'red', ['b']],
      ['c', null, null, ['c']],
      ['d', 'blue', 'blue', ['a', 'd']],
    ]);
  });

  it('R20: interceptors stand around each member, also when it is run again alone', async () => {
    const around: string[] = [];
    stand.interceptors.register({
      interceptor: {
        intercept: async (call: { job: { payload: Member } }, next: () => Promise<never>) => {
          around.push(call.job.payload.name);
          return next();
        },
      } as never,
      source: 'the test',
    });
    handle(async (name) => {
      if (name === 'b') throw new PermanentError('test.bad');
    });
    const ids = await run(['a', 'b', 'c']);
    await stand.seenOf('job.dead_lettered', ids['b']!);
    await completed(ids, ['a', 'c']);
    expect(around).toEqual(calls);
  });

  it('R19: a group takes one connection, also when its members are run again; the rest of the pool is free', async () => {
    await stand.close();
    stand = await RunnerStand.open(db, { poolSize: 1, using });
    handle(async (name) => {
      if (name === 'b') throw new PermanentError('test.bad');
    });
    const ids = await run(['a', 'b', 'c', 'd'], { slots: 30 });
    expect((await stand.seen('runner.started')).connections[0]).toMatchObject({ connections: 1 });
    await completed(ids, ['a', 'c', 'd']);
    await stand.seenOf('job.dead_lettered', ids['b']!);
  });
});
