import 'reflect-metadata';
import { strict as assert } from 'node:assert';
import { setTimeout as wait } from 'node:timers/promises';
import { Jobs } from '@holdfast/queue';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { AppModule } from './app.module.js';
import { CallLog, ReceiptListener } from './handlers.js';
import { Orders } from './orders.js';

async function until<T>(look: () => Promise<T | undefined>, what: string): Promise<T> {
  for (let left = 300; left > 0; left--) {
    const found = await look();
    if (found !== undefined) return found;
    await wait(100);
  }
  throw new Error(`After 30 s still no ${what}.`);
}

function outcomeOf(jobs: Jobs, id: string): Promise<string> {
  return until(async () => {
    const job = await jobs.find(id);
    return job?.finishedAt ? `${job.state} ${job.outcome ?? 'without a word'}` : undefined;
  }, `end of job ${id}`);
}

async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'fatal', 'warn'] });
  try {
    const receipt = await app.get(Orders).place('A-1');
    const sale = await app.get(Orders).sell('corner');
    assert.equal(await outcomeOf(app.get(Jobs), receipt), 'SUCCEEDED receipt.sent');
    assert.equal(await outcomeOf(app.get(Jobs), sale), 'SUCCEEDED without a word');
    const dataSource = app.get(DataSource);
    assert.deepEqual(await dataSource.query('SELECT * FROM orders'), [
      { id: 'A-1', receipt: `job ${receipt} for A-1` },
    ]);
    assert.deepEqual(await dataSource.query('SELECT sold FROM shop'), [{ sold: 1 }]);
    await until(async () => {
      const stocked = await dataSource.query<unknown[]>('SELECT 1 FROM shop WHERE stock = 100');
      return stocked.length > 0 ? true : undefined;
    }, 'run of the duty');
    assert.equal(await app.get(ReceiptListener).heard, receipt);
    assert.deepEqual(app.get(CallLog).kinds.sort(), ['attached sale.count', 'detached receipt.send']);
  } finally {
    await app.close();
  }
  console.log('enqueued, ran, stopped');
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
