import { strict as assert } from 'node:assert';
import { setTimeout as wait } from 'node:timers/promises';
import { Migrator } from '@holdfast/kernel';
import { queueMigrations } from '@holdfast/migrations';
import { createQueue, done, type HoldfastQueue, pgPool } from '@holdfast/queue/core';
import { defineJob, type } from '@holdfast/queue/define';
import { Client, Pool } from 'pg';

const CountSale = defineJob('sale.count', { payload: type<{ shopId: string }>() });
const SendReceipt = defineJob('receipt.send', { payload: type<{ orderId: string }>(), timeout: '10s' });

async function createTables(connectionString: string): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  await new Migrator(client, { migrations: queueMigrations, schema: 'holdfast' }).up();
  await client.query('CREATE TABLE orders (id text PRIMARY KEY, receipt text)');
  await client.query('CREATE TABLE shop (id text PRIMARY KEY, sold int NOT NULL, stock int NOT NULL)');
  await client.query("INSERT INTO shop VALUES ('corner', 0, 0)");
  await client.end();
}

function queueOn(pool: Pool): HoldfastQueue {
  const queue = createQueue({ database: pgPool(pool) });
  queue.handle(CountSale, {
    run: async (job, ctx) => {
      await ctx.tx.sql.query('UPDATE shop SET sold = sold + 1 WHERE id = $1', [job.payload.shopId]);
    },
  });
  queue.duty({ name: 'shop.restock', every: '1h', deadline: '10s' }, (ctx) =>
    ctx.transaction((sql) => sql.query('UPDATE shop SET stock = 100')),
  );
  return queue.handle(
    SendReceipt,
    {
      run: (job, ctx) =>
        ctx.finish(async (tx) => {
          await tx.sql.query('UPDATE orders SET receipt = $2 WHERE id = $1', [job.payload.orderId, 'sent']);
          return done({ outcome: 'receipt.sent' });
        }),
    },
    { detached: true },
  );
}

async function until<T>(look: () => Promise<T | undefined>, what: string): Promise<T> {
  for (let left = 300; left > 0; left--) {
    const found = await look();
    if (found !== undefined) return found;
    await wait(100);
  }
  throw new Error(`After 30 s still no ${what}.`);
}

function outcomeOf(queue: HoldfastQueue, id: string): Promise<string> {
  return until(async () => {
    const job = await queue.lookup.find(id);
    return job?.finishedAt ? `${job.state} ${job.outcome ?? 'without a word'}` : undefined;
  }, `end of job ${id}`);
}

async function enqueue({ jobs, unitOfWork }: HoldfastQueue): Promise<{ receipt: string; sale: string }> {
  const lost = unitOfWork.run(async () => {
    await jobs.enqueue(CountSale, { shopId: 'corner' });
    throw new Error('rolled back');
  });
  await lost.catch(() => undefined);
  return unitOfWork.run(async (tx) => {
    await tx.sql.query("INSERT INTO orders VALUES ('A-1')");
    const receipt = await jobs.enqueue(SendReceipt, { orderId: 'A-1' });
    const sale = await jobs.enqueue(CountSale, { shopId: 'corner' });
    return { receipt: receipt.id, sale: sale.id };
  });
}

async function main(): Promise<void> {
  const connectionString = process.env['DATABASE_URL'] ?? '';
  await createTables(connectionString);
  const pool = new Pool({ connectionString, max: 15 });
  const queue = queueOn(pool);
  try {
    await queue.start();
    const { receipt, sale } = await enqueue(queue);
    assert.equal(await outcomeOf(queue, receipt), 'SUCCEEDED receipt.sent');
    assert.equal(await outcomeOf(queue, sale), 'SUCCEEDED without a word');
    assert.deepEqual((await pool.query('SELECT * FROM orders')).rows, [{ id: 'A-1', receipt: 'sent' }]);
    assert.deepEqual((await pool.query('SELECT sold FROM shop')).rows, [{ sold: 1 }]);
    await until(async () => {
      const stocked = await pool.query('SELECT 1 FROM shop WHERE stock = 100');
      return stocked.rows.length > 0 ? true : undefined;
    }, 'run of the duty');
  } finally {
    await queue.close();
    await pool.end();
  }
  console.log('enqueued, ran, stopped');
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
