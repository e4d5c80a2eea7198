import 'reflect-metadata';
import { JobQueue, UnitOfWork } from '@holdfast/queue';
import { crashTest, drain, expectEnqueued, fakeContext, QueueTestingModule, runHandler } from '@holdfast/queue/testing';
import type { INestApplicationContext } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { AppModule } from './app.module.js';
import { SendReceiptHandler } from './handlers.js';
import { RecordSale, SendReceipt } from './jobs.js';

describe('the shop', () => {
  let app: INestApplicationContext;

  beforeAll(async () => {
    const builder = Test.createTestingModule({ imports: [AppModule] });
    const module = await QueueTestingModule.override(builder, { schema: 'own' }).compile();
    app = await module.init();
  });
  afterAll(() => app.close());

  it('records a sale', async () => {
    const run = await runHandler(app, RecordSale, { cents: 500, shopId: 'corner' });
    expect(run.error).toBeUndefined();
    expect(run.state).toBe('SUCCEEDED');
  });

  it('gives a sale up after its last attempt', async () => {
    const run = await runHandler(app, RecordSale, { cents: 500, shopId: 'none' }, { attempt: 8, rollback: true });
    expect(run.state).toBe('DEAD_LETTER');
  });

  it('sends a receipt for an order', async () => {
    const [unitOfWork, jobs] = [app.get(UnitOfWork), app.get(JobQueue)];
    await unitOfWork.run(async (tx) => {
      await jobs.enqueue(SendReceipt, { orderId: 'A-1' });
      await expectEnqueued(SendReceipt, { orderId: 'A-1' }, { in: tx, schema: 'holdfast', times: 1 });
    });
    await expectEnqueued(SendReceipt, ({ orderId }) => orderId.startsWith('A-'), { in: app, state: 'PENDING' });
  });

  it('counts a sale once, wherever its connection is lost', async () => {
    const effect = async () => {
      const [shop] = await app.get(DataSource).query<{ sold: number }[]>("SELECT sold FROM shop WHERE id = 'corner'");
      return shop?.sold;
    };
    await crashTest(app, RecordSale, { cents: 500, shopId: 'corner' }, { effect });
  });

  it('does everything that is due, and what is due within a day', async () => {
    const { ended } = await drain(app, { travel: '1d' });
    expect(ended.filter(({ error }) => error !== undefined)).toEqual([]);
  });
});

it('a receipt goes out once, with the id of its job', async () => {
  const sent: string[] = [];
  const mailer = {
    send: (_: string, { idempotencyKey }: { idempotencyKey: string }) => (
      sent.push(idempotencyKey),
      Promise.resolve('m-1')
    ),
  };
  const ctx = fakeContext('detached', { sql: () => [] });
  const job = { ...plainJob, id: '17', kind: 'receipt.send', payload: { orderId: 'A-1' } };
  await new SendReceiptHandler(mailer).run(job, ctx);
  expect(sent).toEqual(['17']);
  expect(ctx.finished).toEqual({ outcome: 'receipt.sent', type: 'done' });
  expect(ctx.statements[0]?.values).toEqual(['A-1', 'm-1']);
});

const plainJob = {
  attempt: 1,
  createdAt: new Date(),
  dueAt: new Date(),
  maxAttempts: 8,
  priority: 5,
  tenantId: null,
};
