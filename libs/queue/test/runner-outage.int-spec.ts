import { TcpProxy, waitFor, type TestDatabase } from '@holdfast/testing';
import { defineJob } from '../src/domain/definition.js';
import { type } from '../src/domain/payload.schema.js';
import { PoolTooSmallError } from '../src/errors/pool-too-small.error.js';
import { emptied, Gate, RunnerStand, standDatabase, unhandledRejections } from './runner.stand.js';

const Write = defineJob('test.write', { payload: type<{ text: string }>(), backoff: { delays: ['0ms'] } });

describe('R18: a server that does not serve', () => {
  let db: TestDatabase;
  const unhandled = unhandledRejections();

  beforeAll(async () => (db = await standDatabase()));
  beforeEach(() => emptied(db));
  afterEach(() => expect(unhandled).toEqual([]));
  afterAll(() => db.drop());

  it('R18, K33: read-only for a while, as after a failover: connections are replaced and it recovers', async () => {
    const stand = await RunnerStand.open(db);
    stand.attached(
      Write,
      async (job, ctx) => void (await ctx.tx.sql.query('INSERT INTO effect VALUES ($1)', [job.payload.text])),
    );
    await stand.start({ pollMs: 100 });
    await stand.seenOf('job.completed', await stand.enqueue(Write, { text: 'before' }));
    await db.adminQuery(`ALTER DATABASE ${db.name} SET default_transaction_read_only = on`);
    await db.terminateBackends();
    const failed = await stand.seen('loop.failed', ({ failures }) => failures > 1);
    expect(failed.error).toMatchObject({ code: expect.stringMatching(/25006|kernel/) as string });
    await db.adminQuery('SET default_transaction_read_only = off');
    await db.adminQuery(`ALTER DATABASE ${db.name} RESET default_transaction_read_only`);
    // Nobody terminates anything: the connections that were made meanwhile are read-only for ever.
    await db.adminQuery(`INSERT INTO holdfast.job (kind, payload) VALUES ('test.write', '{"text":"after"}')`);
    await stand.seen('job.completed', undefined, 30_000);
    expect(await stand.effects()).toEqual(['after', 'before']);
    await stand.close();
  });

  it('R18: a frozen network: statements end by their own deadline, the socket is destroyed, and it recovers', async () => {
    const proxy = await TcpProxy.open(db.url);
    const stand = await RunnerStand.open(db, { controlDeadlineMs: 500, controlUrl: proxy.url });
    stand.attached(Write, () => Promise.resolve());
    await stand.start({ pollMs: 100 });
    proxy.freeze();
    const failed = await stand.seen('loop.failed');
    expect(failed.error).toMatchObject({
      code: expect.stringMatching(/kernel\.(statement_deadline|connection_lost)/) as string,
    });
    await stand.seen('loop.failed', ({ failures }) => failures > 1);
    proxy.pass();
    await db.adminQuery(`INSERT INTO holdfast.job (kind, payload) VALUES ('test.write', '{}')`);
    await stand.seen('job.completed', undefined, 20_000);
    await stand.close();
    await proxy.close();
  });
});

describe('R19: connections are counted', () => {
  let db: TestDatabase;

  beforeAll(async () => (db = await standDatabase()));
  afterAll(() => db.drop());

  it('R19: a pool that cannot carry the slots is refused with the sum', async () => {
    const stand = await RunnerStand.open(db, { poolSize: 3 });
    stand.attached(Write, () => Promise.resolve());
    const runner = stand.runner({ slots: 4 });
    await expect(runner.start()).rejects.toThrow(PoolTooSmallError);
    await expect(runner.start()).rejects.toThrow(/3 connections.*needs 4 \(4 attached runs at once\)/);
    await stand.close();
  });

  it('R19: a kind of little concurrency needs no more than that, and the start says what each role holds', async () => {
    const stand = await RunnerStand.open(db, { poolSize: 3 });
    stand.attached(Write, () => Promise.resolve());
    await stand.start({ kinds: { [Write.kind]: { concurrency: 2 } }, slots: 50 });
    const { connections, warnings } = await stand.seen('runner.started');
    expect(connections).toEqual([
      { connections: 2, role: "handlers (of the application's pool of 3)" },
      { connections: 3, role: 'control traffic' },
      { connections: 1, role: 'lease keeper' },
    ]);
    expect(warnings).toEqual([]);
    await stand.close();
  });

  it('R19, K143: handlers that hold the whole pool do not starve control traffic', async () => {
    const stand = await RunnerStand.open(db, { poolSize: 2 });
    const gate = new Gate();
    let held = 0;
    stand.attached(Write, async (_job, ctx) => {
      await ctx.tx.sql.query('SELECT 1');
      held += 1;
      if (held <= 2) await gate.opened;
    });
    const runner = await stand.start({ slots: 2 });
    expect((await stand.seen('runner.started')).warnings).toHaveLength(1);
    const ids = await Promise.all(['a', 'b', 'c'].map((text) => stand.enqueue(Write, { text })));
    runner.wake();
    await waitFor(() => held === 2, { what: 'both slots to be taken' });
    expect(await stand.store.depth([Write.kind])).toMatchObject([{ due: 1 }]);
    gate.open();
    for (const id of ids) await stand.seenOf('job.completed', id);
    await stand.close();
  });
});
