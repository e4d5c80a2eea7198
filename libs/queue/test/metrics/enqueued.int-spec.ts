import { pgPool, PgExecutor } from '@holdfast/kernel';
import { typeOrm } from '@holdfast/kernel/typeorm';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import { Registry } from 'prom-client';
import type { DataSource } from 'typeorm';
import { createQueue, type HoldfastQueue } from '../../src/assembly/holdfast.queue.js';
import { defineJob } from '../../src/domain/definition.js';
import { type } from '../../src/domain/payload.schema.js';
import { queueMetrics } from '../../src/metrics/queue.metrics.js';
import { valueOf } from './metrics.stand.js';

const Mail = defineJob('mail.send', { payload: type<object>() });
const DISPOSITIONS = ['created', 'existing', 'requested', 'unconfirmed'];

describe('M4: what was enqueued', () => {
  let db: TestDatabase;
  let dataSource: DataSource;
  let queue: HoldfastQueue;
  let registry: Registry;

  beforeAll(async () => {
    db = await createTestDatabase();
    dataSource = await db.dataSource({ extra: { max: 5 } });
  });
  beforeEach(() => {
    queue = createQueue({ database: typeOrm(dataSource) });
    registry = new Registry();
    queueMetrics(queue, { produces: [Mail], registry });
  });
  afterEach(() => queue.close());
  afterAll(() => db.drop());

  /** counts answers what moved, by disposition. */
  const counts = async () => {
    const found: Record<string, number> = {};
    for (const disposition of DISPOSITIONS) {
      const value = await valueOf(registry, 'jobs_enqueued_total', { disposition, kind: 'mail.send' });
      if (value !== 0) found[disposition] = value!;
    }
    return found;
  };
  it('M4: counts at the commit, and not before', async () => {
    await queue.unitOfWork.run(async () => {
      await queue.jobs.enqueue(Mail, {});
      await queue.jobs.enqueueMany([Mail.request({}), Mail.request({})]);
      expect(await counts()).toEqual({});
    });
    expect(await counts()).toEqual({ created: 3 });
    await queue.jobs.enqueue(Mail, {}, { in: 'own' });
    expect(await counts()).toEqual({ created: 4 });
  });

  it('M4: a transaction that rolls back counts nothing, whatever the reason', async () => {
    const thrown = queue.unitOfWork.run(async () => {
      await queue.jobs.enqueue(Mail, {});
      throw new Error('no');
    });
    await expect(thrown).rejects.toThrow('no');
    await db.adminQuery('CREATE TABLE IF NOT EXISTS late (n int UNIQUE DEFERRABLE INITIALLY DEFERRED)');
    const failedAtCommit = queue.unitOfWork.run(async (tx) => {
      await queue.jobs.enqueue(Mail, {});
      await tx.sql.query('INSERT INTO late VALUES (1), (1)');
    });
    await expect(failedAtCommit).rejects.toMatchObject({ code: '23505' });
    const caught = queue.unitOfWork.run(async (tx) => {
      await queue.jobs.enqueue(Mail, {});
      await tx.sql.query('SELECT 1 / 0').catch(() => undefined);
    });
    await expect(caught).rejects.toThrow();
    expect(await counts()).toEqual({});
  });

  it('M4: an enqueue before a rollback to a savepoint may be undone with it: it is unconfirmed, one after it counts', async () => {
    await queue.unitOfWork.run(async (tx) => {
      const inner = tx.manager.transaction(async () => {
        await queue.jobs.enqueue(Mail, {});
        throw new Error('inner');
      });
      await expect(inner).rejects.toThrow('inner');
      await queue.jobs.enqueue(Mail, {});
      await tx.manager.transaction(() => queue.jobs.enqueue(Mail, {}));
    });
    expect(await counts()).toEqual({ created: 2, unconfirmed: 1 });
  });

  it("M4: in a transaction of another tool's, whose end nobody tells, it is unconfirmed", async () => {
    await dataSource.transaction((manager) => queue.jobs.enqueue(Mail, {}, { in: manager }));
    const client = await db.client();
    await client.query('BEGIN');
    await queue.jobs.enqueue(Mail, {}, { in: client });
    await queue.jobs.enqueue(Mail, {}, { in: new PgExecutor(client) });
    await client.query('ROLLBACK');
    expect(await counts()).toEqual({ unconfirmed: 3 });
  });

  it('M1, Q4: with a key it counts by the answer', async () => {
    const dedupeKey = 'k';
    await queue.jobs.enqueue(Mail, {}, { dedupeKey, in: 'own' });
    await queue.jobs.enqueue(Mail, {}, { dedupeKey, in: 'own' });
    await queue.unitOfWork.run(() => queue.jobs.enqueue(Mail, {}, { dedupeKey }), { isolation: 'SERIALIZABLE' });
    expect(await counts()).toEqual({ created: 1, existing: 1, requested: 1 });
  });

  it('M4: what a handler enqueues counts with its run, and not where the run fails', async () => {
    const Parent = defineJob('mail.parent', { payload: type<{ fails: boolean }>() });
    const pooled = createQueue({ database: pgPool(db.pool({ max: 12 })), run: { poll: '50ms' } });
    registry = new Registry();
    queueMetrics(pooled, { produces: [Mail], registry });
    pooled.handle(Parent, {
      run: async (job) => {
        await pooled.jobs.enqueue(Mail, {});
        if (job.payload.fails) throw new Error('no');
      },
    });
    await pooled.start();
    const failed = pooled.runner.events.next('job.retried');
    const done = pooled.runner.events.next('job.completed');
    await pooled.jobs.enqueueMany([Parent.request({ fails: true }), Parent.request({ fails: false })], { in: 'own' });
    await Promise.all([failed, done]);
    expect(await counts()).toEqual({ created: 1 });
    await pooled.close();
  });
});
