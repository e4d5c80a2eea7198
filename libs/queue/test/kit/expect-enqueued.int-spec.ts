import 'reflect-metadata';
import { pgPool } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import { createQueue, type HoldfastQueue } from '../../src/index.js';
import { expectEnqueued, NotEnqueuedError, runHandler } from '../../src/testing/index.js';
import { emptied } from '../module/probe.js';
import { Pay, Ship } from './kit.app.js';

describe('expectEnqueued', () => {
  let db: TestDatabase;
  let queue: HoldfastQueue;

  beforeAll(async () => {
    db = await createTestDatabase();
    queue = createQueue({ database: pgPool(db.pool({ max: 3 })), tenancy: { setting: 'app.tenant' } });
    queue.handle(Ship, { run: (_job, ctx) => ctx.finish(() => Promise.resolve()) }, { detached: true });
  });
  beforeEach(() => emptied(db));
  afterAll(async () => {
    await queue.close();
    await db.drop();
  });

  const lines = [
    { count: 2, sku: 'x' },
    { count: 1, sku: 'y' },
  ];

  it('finds jobs by a part of their payload, by matchers and by a function, whatever has become of them', async () => {
    const { id } = await queue.jobs.enqueue(Pay, { lines, order: 'A' }, { dedupeKey: 'A', in: 'own', priority: 3 });
    await queue.jobs.enqueue(Pay, { order: 'B' }, { in: 'own', tenantId: 'acme' });
    await runHandler(queue, Ship, { order: 'C' });
    expect(await expectEnqueued(Pay, { order: 'A' }, { in: queue })).toMatchObject([{ id, payload: { lines } }]);
    expect(
      await expectEnqueued(
        Pay,
        {
          lines: [
            { count: 2, sku: 'x' },
            { count: 1, sku: 'y' },
          ],
        },
        { in: queue },
      ),
    ).toHaveLength(1);
    expect(await expectEnqueued(Pay, { order: expect.any(String) as string }, { in: queue, times: 2 })).toHaveLength(2);
    await expectEnqueued(Pay, undefined, { in: queue, tenantId: 'acme', times: 1 });
    await expectEnqueued(Pay, { order: 'A' }, { dedupeKey: 'A', in: queue, priority: 3, tenantId: null });
    await expectEnqueued(Pay, (payload, job) => payload.order === 'B' && job.tenantId === 'acme', {
      in: queue,
      times: 1,
    });
    await expectEnqueued(Ship, { order: 'C' }, { in: queue, state: 'SUCCEEDED' });
    await expectEnqueued(Ship, undefined, { in: queue, state: 'PENDING', times: 0 });
  });

  it('sees in an open transaction what that has enqueued, and from outside only what is committed', async () => {
    await queue.unitOfWork.run(async (tx) => {
      await queue.jobs.enqueue(Pay, { order: 'A' });
      await queue.jobs.enqueue(Ship, { order: 'A' }, { dedupeKey: 'A' });
      await expectEnqueued(Pay, { order: 'A' }, { in: tx, times: 1 });
      await expectEnqueued(Ship, { order: 'A' }, { dedupeKey: 'A', in: tx, times: 1 });
      await expectEnqueued(Pay, undefined, { in: queue, times: 0 });
    });
    await expectEnqueued(Pay, { order: 'A' }, { in: queue, times: 1 });
    const client = await db.client();
    await client.query('BEGIN');
    await queue.jobs.enqueue(Pay, { order: 'B' }, { in: client });
    await expectEnqueued(Pay, { order: 'B' }, { in: client, schema: 'holdfast' });
    await client.query('ROLLBACK');
    await expectEnqueued(Pay, undefined, { in: queue, times: 1 });
  });

  it('tells what is there and where it differs', async () => {
    await queue.jobs.enqueue(Pay, { lines, order: 'A' }, { in: 'own' });
    const failed = expectEnqueued(
      Pay,
      {
        lines: [
          { count: 3, sku: 'x' },
          { count: 1, sku: 'y' },
        ],
        order: 'B',
      },
      { dedupeKey: 'B', in: queue },
    );
    await expect(failed).rejects.toThrow(NotEnqueuedError);
    const message = await failed.then(
      () => '',
      (error: Error) => error.message,
    );
    expect(message.replaceAll(/\b\d{1,9} PENDING/g, 'N PENDING')).toBe(
      [
        'Expected at least one job of order.pay with {"lines":[{"count":3,"sku":"x"},{"count":1,"sku":"y"}],"order":"B"}, found 0.',
        'Others of order.pay:',
        '  N PENDING {"lines":[{"count":2,"sku":"x"},{"count":1,"sku":"y"}],"order":"A"}',
        '    dedupeKey: expected "B", there is null',
        '    lines[0].count: expected 3, there is 2',
        '    order: expected "B", there is "A"',
      ].join('\n'),
    );
    await expect(expectEnqueued(Pay, { order: 'A' }, { in: queue, times: 2 })).rejects.toThrow(
      /Expected 2 jobs of order\.pay with .*, found 1\.\nThose that match:\n {2}\d+ PENDING/,
    );
    await expect(expectEnqueued(Ship, undefined, { in: queue })).rejects.toThrow(
      'There is none of order.ship. What has been enqueued: order.pay.',
    );
  });
});
