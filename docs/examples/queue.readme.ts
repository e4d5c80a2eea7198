import { createQueue, pgPool } from '@holdfast/queue/core';
import { defineJob, type } from '@holdfast/queue/define';
import { Pool } from 'pg';

const CountSale = defineJob('sale.count', { payload: type<{ shopId: string }>() });

export async function main(): Promise<void> {
  const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 15 });
  const queue = createQueue({ database: pgPool(pool), migrations: 'up' });
  queue.handle(CountSale, {
    run: async (job, ctx) => {
      await ctx.tx.sql.query('UPDATE shop SET sold = sold + 1 WHERE id = $1', [job.payload.shopId]);
    },
  });
  await queue.start();
  await queue.unitOfWork.run(async (tx) => {
    await tx.sql.query("INSERT INTO sale (shop_id, cents) VALUES ('corner', 990)");
    await queue.jobs.enqueue(CountSale, { shopId: 'corner' });
  });
  process.once('SIGTERM', () => void queue.close().then(() => pool.end()));
}
