import 'reflect-metadata';
import { pgPool } from '@holdfast/kernel';
import { typeOrm } from '@holdfast/kernel/typeorm';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import { Test, type TestingModule } from '@nestjs/testing';
import { createQueue, defineJob, InvalidPayloadError, type } from '../../src/index.js';
import { KitError, QueueTestingModule, runHandler } from '../../src/testing/index.js';
import { emptied } from '../module/probe.js';
import { count, Pay, Runner, Ship, shop, Sweep, tables, told } from './kit.app.js';

describe.each(['pg', 'typeorm'])('runHandler, on %s', (using) => {
  let app: TestingModule;
  let db: TestDatabase;

  beforeAll(async () => {
    db = await createTestDatabase();
    await tables(db);
    const database = using === 'pg' ? pgPool(db.pool({ max: 5 })) : typeOrm(await db.dataSource({ poolSize: 5 }));
    const builder = Test.createTestingModule({ imports: [shop(database)] });
    app = await QueueTestingModule.override(builder).compile();
    await app.init();
  });
  beforeEach(async () => {
    await emptied(db);
    await db.adminQuery('TRUNCATE paid, shipped, marked');
    told.length = 0;
  });
  afterAll(async () => {
    await app.close();
    await db.drop();
  });

  it('runs an attached handler as it was discovered, in the transaction that completes the job; the runner stands still', async () => {
    const run = await runHandler(app, Pay, { order: 'A' }, { dedupeKey: 'A', priority: 2 });
    expect(run).toMatchObject({
      error: undefined,
      outcome: { counts: { paid: 1 }, outcome: 'order.paid', type: 'done' },
      state: 'SUCCEEDED',
      status: { attempt: 1, dedupeKey: 'A', outcome: 'order.paid', priority: 2 },
    });
    expect(run.enqueued).toMatchObject([{ kind: 'order.ship', payload: { order: 'A' }, state: 'PENDING' }]);
    expect(run.events.map((event) => event.type)).toEqual(['job.started', 'job.completed']);
    expect(await db.adminQuery('SELECT id, attempt FROM paid')).toEqual([{ attempt: 1, id: 'A' }]);
    expect(told).toEqual(['around order.pay', 'committed A', 'heard']);
    expect(app.get(Runner, { strict: false }).vitals.state).toBe('idle');
  });

  it('tells what the handler threw and what becomes of the job; its writes and its follow-ups are gone', async () => {
    const run = await runHandler(app, Pay, { how: 'bare', order: 'B' });
    expect(run).toMatchObject({ enqueued: [], error: new Error('no money'), outcome: undefined, state: 'PENDING' });
    expect(run.events.at(-1)).toMatchObject({ delayMs: 600_000, type: 'job.retried' });
    expect(await count(db, 'paid')).toBe(0);
    expect(await count(db, 'holdfast.job')).toBe(1);
  });

  it('the last attempt ends in the dead letter, an outage is deferred, a refusal ends the job', async () => {
    expect(await runHandler(app, Pay, { how: 'bare', order: 'C' }, { attempt: 3 })).toMatchObject({
      state: 'DEAD_LETTER',
      status: { attempt: 3 },
    });
    expect(await runHandler(app, Pay, { how: 'unavailable', order: 'D' })).toMatchObject({
      state: 'PENDING',
      status: { attempt: 0, errorCode: 'bank.away' },
    });
    expect(await runHandler(app, Pay, { how: 'refuse', order: 'E' })).toMatchObject({
      outcome: { code: 'order.unknown', params: { order_at: 'nowhere' }, type: 'refuse' },
      state: 'FAILED',
    });
    expect(await count(db, 'paid')).toBe(0);
  });

  it('R3: a deferred constraint that fails at COMMIT is the error', async () => {
    const run = await runHandler(app, Pay, { how: 'deferred', order: 'F' });
    expect(run).toMatchObject({ enqueued: [], error: { code: '23503' }, outcome: undefined, state: 'PENDING' });
  });

  it('R22: runs a detached handler with its finish, whose outcome it tells', async () => {
    const run = await runHandler(app, Ship, { order: 'G' });
    expect(run).toMatchObject({ outcome: { outcome: 'order.shipped', type: 'done' }, state: 'SUCCEEDED' });
    expect(run.enqueued).toMatchObject([{ kind: 'order.mark' }]);
    expect(await count(db, 'shipped')).toBe(1);
    const lost = await runHandler(app, Ship, { order: 'H', wrong: true });
    expect(lost).toMatchObject({ enqueued: [], error: new Error('the parcel is lost'), state: 'PENDING' });
    expect(await runHandler(app, Sweep, { every: '5m' })).toMatchObject({
      outcome: { after: '5m', type: 'repeat' },
      state: 'PENDING',
    });
  });

  it.each([
    ['attached', Pay, 'order.ship'],
    ['detached', Ship, 'order.mark'],
  ] as const)('with rollback an %s one leaves nothing, and tells what it would have left', async (_, job, follow) => {
    const run = await runHandler(app, job, { order: 'I' }, { rollback: true });
    expect(run).toMatchObject({ enqueued: [{ kind: follow }], state: 'SUCCEEDED', status: undefined });
    expect(told.filter((line) => line.startsWith('committed'))).toEqual([]);
    for (const table of ['paid', 'shipped', 'holdfast.job', 'holdfast.job_renewal'])
      expect([table, await count(db, table)]).toEqual([table, 0]);
  });

  it('with rollback a failure is told as it would be recorded, a deferred constraint too', async () => {
    expect(await runHandler(app, Pay, { how: 'bare', order: 'J' }, { attempt: 3, rollback: true })).toMatchObject({
      error: new Error('no money'),
      state: 'DEAD_LETTER',
    });
    expect(await runHandler(app, Pay, { how: 'deferred', order: 'K' }, { rollback: true })).toMatchObject({
      error: { code: '23503' },
      state: 'PENDING',
    });
    expect(await count(db, 'holdfast.job')).toBe(0);
  });

  it('says what is missing: no handler, no init, a payload that is none, a key that is taken', async () => {
    const Other = defineJob('order.other', { payload: type<object>() });
    await expect(runHandler(app, Other, {})).rejects.toThrow(/order\.other has no handler here.*order\.pay/);
    const builder = Test.createTestingModule({ imports: [shop(pgPool(db.pool({ max: 2 })))] });
    const early = await QueueTestingModule.override(builder).compile();
    await expect(runHandler(early, Pay, { order: 'L' })).rejects.toThrow(/await app\.init\(\) first/);
    await early.close();
    await expect(runHandler(app, Pay, [] as never)).rejects.toThrow(InvalidPayloadError);
    await runHandler(app, Sweep, { every: '5m' }, { dedupeKey: 'one' });
    const again = runHandler(app, Sweep, { every: '5m' }, { dedupeKey: 'one' });
    await expect(again).rejects.toThrow(KitError);
    await expect(again).rejects.toThrow(/has the key one already/);
    await expect(runHandler({ get: () => undefined }, Pay, { order: 'M' })).rejects.toThrow(/no queue/);
  });
});

describe('runHandler, without Nest', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
    await tables(db);
  });
  afterAll(() => db.drop());

  it('takes a queue that createQueue made and that was never started; a deadline ends the wait for a handler', async () => {
    const queue = createQueue({ database: pgPool(db.pool({ max: 2 })) });
    queue.handle(Sweep, { run: () => new Promise(() => undefined) });
    queue.handle(Pay, {
      run: async (job, ctx) => {
        await ctx.tx.sql.query('INSERT INTO paid VALUES ($1, $2)', [job.payload.order, job.attempt]);
      },
    });
    expect(await runHandler(queue, Pay, { order: 'A' })).toMatchObject({ outcome: { type: 'done' } });
    expect(await count(db, 'paid')).toBe(1);
    const hanging = runHandler(queue, Sweep, { every: '1s' }, { deadline: '300ms' });
    await expect(hanging).rejects.toThrow(/After 300 ms not ended: order\.sweep \d+/);
    expect(await db.adminQuery('SELECT state, attempt FROM holdfast.job WHERE kind = $1', ['order.sweep'])).toEqual([
      { attempt: 0, state: 0 },
    ]);
    await queue.close();
  });
});
