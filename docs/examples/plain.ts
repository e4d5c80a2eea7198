import { createQueue, LoggingReporter, pgPool } from '@holdfast/queue/core';
import { Pool } from 'pg';
import { RecordSale, SendReceipt } from './jobs.js';

export async function work(): Promise<void> {
  const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 15 });
  const queue = createQueue({ database: pgPool(pool), migrations: 'up' });
  queue.handle(RecordSale, {
    run: async (job, ctx) => {
      await ctx.tx.sql.query('UPDATE shop SET sold = sold + 1 WHERE id = $1', [job.payload.shopId]);
    },
  });
  await queue.start();
  let stopped: Promise<void> | undefined;
  const stop = () => void (stopped ??= queue.close().then(() => pool.end()));
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop);
}

/** What an error says may hold a payload's values: of the error this keeps its class alone. */
export const reporter = new LoggingReporter((level, message, { error, ...fields }) => {
  const failure = error instanceof Error ? error.name : undefined;
  console.log(JSON.stringify({ level, message, event: fields['event'], jobId: fields['jobId'], failure }));
});

export async function produce(pool: Pool, orderId: string): Promise<void> {
  const { jobs, unitOfWork } = createQueue({ database: pgPool(pool) });
  await unitOfWork.run(async (tx) => {
    await tx.sql.query('INSERT INTO orders (id) VALUES ($1)', [orderId]);
    await jobs.enqueue(SendReceipt, { orderId });
  });
}
