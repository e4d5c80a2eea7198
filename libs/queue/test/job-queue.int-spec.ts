import {
  ControlConnections,
  type Database,
  NoOpenTransactionError,
  pgPool,
  SchemaName,
  TransactionSettledError,
  UnitOfWork,
} from '@holdfast/kernel';
import { typeOrm } from '@holdfast/kernel/typeorm';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { z } from 'zod';
import { JobQueue } from '../src/client/job-queue.js';
import { defineJob } from '../src/domain/definition.js';
import { type } from '../src/domain/payload.schema.js';
import { NoTransactionError } from '../src/errors/no-transaction.error.js';
import { NotADefinitionError } from '../src/errors/not-a-definition.error.js';
import { RefusedRequestError } from '../src/errors/refused-request.error.js';
import { PostgresJobStore } from '../src/postgres/postgres.job-store.js';
import { PostgresJobs } from '../src/postgres/postgres.jobs.js';

const Send = defineJob('mail.send', { payload: z.object({ to: z.string() }), priority: 3 });
const Anything = defineJob('mail.anything', { payload: type<object>() });
const SCHEMA = new SchemaName('holdfast');

interface Row {
  readonly kind: string;
  readonly max_attempts: number | null;
  readonly payload: unknown;
  readonly priority: number;
  readonly tenant_id: string | null;
}

describe('JobQueue', () => {
  let connections: ControlConnections;
  let dataSource: DataSource;
  let db: TestDatabase;
  let pool: Pool;
  let store: PostgresJobStore;

  const queueOn = (database: Database, options: { payloadLimitBytes?: number; tenancy?: boolean } = {}) =>
    new JobQueue({
      database,
      maxAttemptsOf: () => undefined,
      payloadLimitBytes: 1_000,
      store,
      tenancy: false,
      ...options,
    });
  const rows = () =>
    db.adminQuery<Row & object>(
      'SELECT kind, tenant_id, priority, max_attempts, payload FROM holdfast.job ORDER BY id',
    );
  const count = async () => (await rows()).length;

  beforeAll(async () => {
    db = await createTestDatabase();
    pool = db.pool({ max: 4 });
    dataSource = await db.dataSource();
    const config = { connectionString: db.url };
    connections = new ControlConnections(config, { applicationName: 'test', deadlineMs: 5_000, max: 2 });
    const keeper = new ControlConnections(config, { applicationName: 'test', deadlineMs: 5_000, max: 1 });
    store = new PostgresJobStore({ connections, keeper, schema: SCHEMA });
    await db.adminQuery('CREATE TABLE note (id int PRIMARY KEY)');
  });
  afterEach(() => db.adminQuery('TRUNCATE holdfast.job, holdfast.job_request, note'));
  afterAll(async () => {
    await store.close();
    await db.drop();
  });

  it('Q1: a job commits with the writes of its unit of work', async () => {
    const database = pgPool(pool);
    const jobs = queueOn(database);
    const answer = await new UnitOfWork(database).run(async (tx) => {
      await tx.sql.query('INSERT INTO note VALUES (1)');
      return jobs.enqueue(Send, { to: 'a' });
    });
    expect(answer).toEqual({
      disposition: 'created',
      id: expect.stringMatching(/^\d+$/) as string,
      payloadDiffers: false,
    });
    expect(await rows()).toEqual([
      { kind: 'mail.send', max_attempts: 8, payload: { to: 'a' }, priority: 3, tenant_id: null },
    ]);
  });

  it('Q1: a job vanishes with the writes of its unit of work, and with a savepoint', async () => {
    const database = typeOrm(dataSource);
    const jobs = queueOn(database);
    const failing = new UnitOfWork(database).run(async () => {
      await jobs.enqueue(Send, { to: 'a' });
      throw new Error('undo');
    });
    await expect(failing).rejects.toThrow('undo');
    await new UnitOfWork(database).run(async (tx) => {
      const inner = tx.manager.transaction(async (manager) => {
        await jobs.enqueue(Send, { to: 'inner' }, { in: manager });
        throw new Error('undo');
      });
      await expect(inner).rejects.toThrow('undo');
      await jobs.enqueue(Send, { to: 'outer' });
    });
    expect((await rows()).map(({ payload }) => payload)).toEqual([{ to: 'outer' }]);
  });

  it('Q1: joins the transaction it is handed: an EntityManager, a QueryRunner, a pg client, a Transaction, an executor', async () => {
    const jobs = queueOn(typeOrm(dataSource));
    await dataSource.transaction((manager) => jobs.enqueue(Send, { to: 'manager' }, { in: manager }));
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    await jobs.enqueue(Send, { to: 'rolled back' }, { in: runner });
    await runner.rollbackTransaction();
    await runner.release();
    const client = await db.client();
    await client.query('BEGIN');
    await jobs.enqueue(Send, { to: 'client' }, { in: client });
    expect(await count()).toBe(1);
    await client.query('COMMIT');
    await new UnitOfWork(pgPool(pool)).run((tx) => jobs.enqueue(Send, { to: 'transaction' }, { in: tx }));
    await new UnitOfWork(pgPool(pool)).run((tx) => jobs.enqueue(Send, { to: 'executor' }, { in: tx.sql }));
    expect((await rows()).map(({ payload }) => (payload as { to: string }).to)).toEqual([
      'manager',
      'client',
      'transaction',
      'executor',
    ]);
  });

  it('Q1: refuses an enqueue without a transaction, and says what to do', async () => {
    const jobs = queueOn(typeOrm(dataSource));
    const refused: unknown = await jobs.enqueue(Send, { to: 'a' }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(NoTransactionError);
    expect(refused).toMatchObject({
      kind: 'mail.send',
      message: expect.stringMatching(/unitOfWork\.run.*in: manager.*in: 'own'/) as string,
    });
    await expect(jobs.enqueueMany([Send.request({ to: 'a' })])).rejects.toBeInstanceOf(NoTransactionError);
    for (const handle of [dataSource.manager, dataSource.createQueryRunner(), await db.client(), pool as never]) {
      await expect(jobs.enqueue(Send, { to: 'a' }, { in: handle })).rejects.toBeInstanceOf(NoOpenTransactionError);
    }
    expect(await count()).toBe(0);
  });

  it('Q1: the unit of work of another database is no transaction of this one', async () => {
    const jobs = queueOn(typeOrm(dataSource));
    await expect(new UnitOfWork(pgPool(pool)).run(() => jobs.enqueue(Send, { to: 'a' }))).rejects.toBeInstanceOf(
      NoTransactionError,
    );
  });

  it("Q1: { in: 'own' } commits by itself, whatever becomes of the transaction around it", async () => {
    const database = pgPool(pool);
    const jobs = queueOn(database);
    const failing = new UnitOfWork(database).run(async () => {
      await jobs.enqueue(Send, { to: 'own' }, { in: 'own', priority: 0 });
      await jobs.enqueueMany([Send.request({ to: 'own' })], { in: 'own' });
      throw new Error('undo');
    });
    await expect(failing).rejects.toThrow('undo');
    expect((await rows()).map(({ priority }) => priority)).toEqual([0, 3]);
  });

  it('Q1: an enqueue that was not awaited, and comes after the end, rejects and writes nothing', async () => {
    const database = pgPool(pool);
    const jobs = queueOn(database);
    let late: Promise<unknown> = Promise.resolve();
    await new UnitOfWork(database).run(async () => {
      late = new Promise((resolve) => setImmediate(resolve)).then(() => jobs.enqueue(Send, { to: 'late' }));
      late.catch(() => undefined);
      return Promise.resolve();
    });
    await expect(late).rejects.toBeInstanceOf(TransactionSettledError);
    expect(await count()).toBe(0);
  });

  it('Q2, K88, K90, K92: a refused request leaves the transaction usable, and sends nothing', async () => {
    const database = pgPool(pool);
    const jobs = queueOn(database);
    await new UnitOfWork(database).run(async (tx) => {
      await tx.sql.query('INSERT INTO note VALUES (1)');
      const cycle: Record<string, unknown> = {};
      cycle['again'] = cycle;
      for (const payload of [
        { a: 'x\0' },
        { 'x\0': 1 },
        { a: 1n },
        { a: new Date() },
        cycle,
        { a: 'x'.repeat(1_000) },
        { a: '\uD800' },
      ]) {
        await expect(jobs.enqueue(Anything, payload)).rejects.toBeInstanceOf(RefusedRequestError);
      }
      await expect(jobs.enqueue(Anything, {}, { dedupeKey: 'a\0' })).rejects.toBeInstanceOf(RefusedRequestError);
      await expect(jobs.enqueue(Send, { to: 5 as unknown as string })).rejects.toMatchObject({ path: 'payload.to' });
      await jobs.enqueue(Anything, { fine: true });
    });
    expect((await rows()).map(({ payload }) => payload)).toEqual([{ fine: true }]);
    expect(await db.adminQuery('SELECT id FROM note')).toEqual([{ id: 1 }]);
  });

  it('Q2: stores any text that is no U+0000 and no lone surrogate, key and value, as it was', async () => {
    const payload = { 'käy "\\': ['\u0001\u2028😀', 'ﷺ', 'e\u0301', ' '], __x__: -1.5e-7 };
    await queueOn(pgPool(pool)).enqueue(Anything, payload, { in: 'own', dedupeKey: ' ü😀 ' });
    expect((await rows())[0]?.payload).toEqual(payload);
  });

  it.each<[string, unknown]>([
    ['The text "ownn" cannot be joined', 'ownn'],
    ['The value null cannot be joined', null],
  ])('Q1: %s, and the message says what can', async (message, handle) => {
    const refused = queueOn(pgPool(pool)).enqueue(Send, { to: 'a' }, { in: handle as 'own' });
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.toBeInstanceOf(NoOpenTransactionError);
  });

  it('Q8: a refusal of one of many says in its message which', async () => {
    const requests = [Send.request({ to: 'a' }), Send.request({ to: 5 as unknown as string })];
    const refused: unknown = await queueOn(pgPool(pool))
      .enqueueMany(requests, { in: 'own' })
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ index: 1, message: expect.stringMatching(/^Request 1 .*payload\.to/) as unknown });
    expect((refused as Error).message).not.toContain('..');
    expect(await count()).toBe(0);
  });

  it('Q2: refuses an option beside a request, which has its own', async () => {
    const jobs = queueOn(pgPool(pool));
    const options = { in: 'own', priority: 1 } as { in: 'own' };
    const send = Send.request({ to: 'a' });
    for (const asked of [() => jobs.enqueue(send, options), () => jobs.enqueueMany([send], options)])
      await expect(asked()).rejects.toThrow(/priority is no option here/);
    expect(await count()).toBe(0);
  });

  it('Q2: refuses what is no definition, as an import that is still undefined', async () => {
    const jobs = queueOn(pgPool(pool));
    await expect(jobs.enqueue(undefined as unknown as typeof Send, { to: 'a' })).rejects.toThrow(/import each other/);
    await expect(jobs.enqueue({ payload: {} } as never)).rejects.toBeInstanceOf(NotADefinitionError);
    await expect(jobs.enqueueMany([null as never], { in: 'own' })).rejects.toMatchObject({ index: 0 });
  });

  it('enqueues a request that was made before', async () => {
    const request = Send.request({ to: 'a' }, { maxAttempts: 'unlimited', priority: 9 });
    await queueOn(pgPool(pool)).enqueue(request, { in: 'own' });
    expect(await rows()).toMatchObject([{ max_attempts: null, payload: { to: 'a' }, priority: 9 }]);
  });

  it('Q8: enqueueMany is all or nothing, answers in order, and names the request that was refused', async () => {
    const database = pgPool(pool);
    const jobs = queueOn(database);
    const requests = Array.from({ length: 1_000 }, (_, n) =>
      Send.request({ to: `${n}` }, n % 3 === 0 ? { dedupeKey: `${n % 9}` } : {}),
    );
    const answers = await new UnitOfWork(database).run(() => jobs.enqueueMany(requests));
    expect(answers).toHaveLength(1_000);
    expect(answers[0]).toMatchObject({ disposition: 'created' });
    expect(answers[9]).toMatchObject({ disposition: 'existing', id: answers[0]?.id, payloadDiffers: true });
    expect(await count()).toBe(666 + 3);
    const refused = jobs.enqueueMany([Send.request({ to: 'a' }), Send.request({ to: '\0' })], { in: 'own' });
    await expect(refused).rejects.toMatchObject({ index: 1, path: 'payload.to' });
    expect(await count()).toBe(669);
    expect(await jobs.enqueueMany([])).toEqual([]);
  });

  it('T1: a job inherits the tenant of its unit of work, and may name another or none', async () => {
    const database = pgPool(pool);
    const jobs = queueOn(database, { tenancy: true });
    await new UnitOfWork(database, { tenantSetting: 'app.tenant' }).run(
      async (tx) => {
        await jobs.enqueue(Send, { to: '1' });
        await jobs.enqueue(Send, { to: '2' }, { tenantId: 'other' });
        await jobs.enqueue(Send, { to: '3' }, { tenantId: null });
        await jobs.enqueue(Send, { to: '4' }, { in: tx });
        await jobs.enqueueMany([Send.request({ to: '5' })]);
        await jobs.enqueue(Send, { to: '6' }, { in: 'own' });
      },
      { tenantId: 'acme' },
    );
    const tenants = (await rows()).map(({ payload, tenant_id }) => [(payload as { to: string }).to, tenant_id]);
    expect(tenants.sort()).toEqual([
      ['1', 'acme'],
      ['2', 'other'],
      ['3', null],
      ['4', 'acme'],
      ['5', 'acme'],
      ['6', 'acme'],
    ]);
  });

  it('T2: with tenancy off no job has a tenant', async () => {
    const database = pgPool(pool);
    const jobs = queueOn(database);
    const tenancyIsOff = expect.stringContaining('option tenancy') as unknown;
    await expect(
      new UnitOfWork(database).run(() => jobs.enqueue(Send, { to: '1' }), { tenantId: 'acme' }),
    ).rejects.toMatchObject({ code: 'kernel.tenant_refused', message: tenancyIsOff });
    await new UnitOfWork(database).run(() => jobs.enqueue(Send, { to: '1' }), { tenantId: null });
    expect(await rows()).toMatchObject([{ tenant_id: null }]);
    await expect(jobs.enqueue(Send, { to: '1' }, { in: 'own', tenantId: 'acme' })).rejects.toMatchObject({
      field: 'tenantId',
      message: tenancyIsOff,
    });
  });

  it('A1: Jobs answers a job by its id, without its payload, and nothing for what is no id', async () => {
    const jobs = new PostgresJobs(connections, SCHEMA);
    const { id } = await queueOn(pgPool(pool)).enqueue(
      Send,
      { to: 'secret' },
      { in: 'own', dedupeKey: 'k', runIn: '1h' },
    );
    const found = await jobs.find(id);
    expect(found).toMatchObject({
      attempt: 0,
      dedupeKey: 'k',
      failures: [],
      finishedAt: null,
      id,
      kind: 'mail.send',
      maxAttempts: 8,
      priority: 3,
      state: 'PENDING',
    });
    expect(JSON.stringify(found)).not.toContain('secret');
    expect(found!.dueAt.getTime() - found!.createdAt.getTime()).toBeGreaterThan(3_590_000);
    for (const none of ['0', '-1', '1.5', 'x', '', `${2n ** 63n}`, '9'.repeat(30), `${BigInt(id) + 1_000n}`]) {
      expect(await jobs.find(none)).toBeUndefined();
    }
  });

  it('A1, Q4: Jobs answers a request by its id before intake, and the job that it became afterwards', async () => {
    const database = pgPool(pool);
    const jobs = new PostgresJobs(connections, SCHEMA);
    const queue = queueOn(database);
    const unit = new UnitOfWork(database);
    const asked = await unit.run(() => queue.enqueue(Send, { to: 'a' }, { dedupeKey: 'k' }), {
      isolation: 'SERIALIZABLE',
    });
    expect(asked.disposition).toBe('requested');
    expect(await jobs.find(asked.id)).toMatchObject({ id: asked.id, state: 'PENDING', attempt: 0, claimedAt: null });
    await store.intake(100);
    expect(await jobs.find(asked.id)).toMatchObject({ id: asked.id, state: 'PENDING' });
    const again = await unit.run(() => queue.enqueue(Send, { to: 'a' }, { dedupeKey: 'k' }), {
      isolation: 'SERIALIZABLE',
    });
    await store.intake(100);
    expect(await jobs.find(again.id)).toMatchObject({ id: asked.id });
  });
});
