import { type PgClientLike, pgPool, UnitOfWork } from '@holdfast/kernel';
import { typeOrm } from '@holdfast/kernel/typeorm';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import type { EntityManager } from 'typeorm';
import { createQueue, defineJob, type, type HoldfastQueue } from '../../src/core.js';

const Job = defineJob('test.job', { payload: type<Record<string, unknown>>() });

describe('An enqueue with a handle', () => {
  let db: TestDatabase;
  let queue: HoldfastQueue;

  beforeAll(async () => {
    db = await createTestDatabase();
    queue = createQueue({ database: pgPool(db.pool({ max: 4 })) });
  });
  afterAll(async () => {
    await queue.close();
    await db.drop();
  });

  const rows = () => db.adminQuery('SELECT id FROM holdfast.job UNION ALL SELECT id FROM holdfast.job_request');

  it('Q1: that has had its transaction, or never had one, is refused, with a key and without', async () => {
    const source = await db.dataSource({ poolSize: 3 });
    const pool = db.pool({ max: 3 });
    const client = await pool.connect();
    await client.query('BEGIN');
    await client.query('ROLLBACK');
    const runner = source.createQueryRunner();
    await runner.startTransaction();
    await runner.rollbackTransaction();
    await runner.release();
    let kept: EntityManager | undefined;
    await source.transaction((manager) => Promise.resolve((kept = manager)));
    const trap = () => {
      throw new Error('trap');
    };
    const handles: unknown[] = [
      pool, client, source, source.manager, runner, runner.manager, kept, pgPool(pool), typeOrm(source), new UnitOfWork(pgPool(pool)), null, {}, [], 5,
      'mine', () => 1, Promise.resolve(), new Proxy({}, { get: trap, getPrototypeOf: trap, has: trap }),
    ]; // prettier-ignore
    for (const handle of handles) {
      for (const options of [{}, { dedupeKey: 'k' }]) {
        const refused = queue.jobs.enqueue(Job, {}, { in: handle as never, ...options });
        await expect(refused).rejects.toMatchObject({ code: 'kernel.no_open_transaction' });
      }
    }
    client.release();
    expect(await rows()).toEqual([]);
  });

  it('Q1: that is a bound query of a pg client works, with a key and without', async () => {
    const client = await db.client();
    const bound = { query: client.query.bind(client) as unknown as PgClientLike['query'] };
    await client.query('BEGIN');
    for (const options of [{}, { dedupeKey: 'k' }])
      await queue.jobs.enqueue(Job, {}, { in: bound as never, ...options });
    expect(await rows()).toEqual([]);
    await client.query('COMMIT');
    expect(await rows()).toHaveLength(2);
  });

  it('Q1: whose transaction has failed says so, and nothing is enqueued elsewhere', async () => {
    const before = (await rows()).length;
    const client = await db.client();
    for (const options of [{}, { dedupeKey: 'failed' }]) {
      await client.query('BEGIN');
      await client.query('SELECT 1/0').catch(() => undefined);
      const refused = queue.jobs.enqueue(Job, {}, { in: client, ...options });
      await expect(refused).rejects.toMatchObject({ code: '25P02' });
      await client.query('ROLLBACK');
    }
    expect(await rows()).toHaveLength(before);
  });

  it('Q2, K90: a payload whose reading fails is refused with a typed error, in any place', async () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    for (const payload of [proxy, { a: proxy }, { a: [proxy] }]) {
      const refused = queue.jobs.enqueue(Job, payload, { in: 'own' });
      await expect(refused).rejects.toMatchObject({ code: 'queue.payload_refused' });
    }
  });

  it('Q3: names that JavaScript treats specially are data', async () => {
    const text = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"x":1}},"":1,"then":2,"toJSON":3}';
    const { id } = await queue.jobs.enqueue(Job, JSON.parse(text) as Record<string, unknown>, { in: 'own' });
    const [row] = await db.adminQuery<{ text: string }>(
      'SELECT payload::text AS text FROM holdfast.job WHERE id = $1',
      [id],
    );
    expect(row?.text).toBe(text);
  });
});
