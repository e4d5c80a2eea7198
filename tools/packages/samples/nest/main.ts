import 'reflect-metadata';
import { strict as assert } from 'node:assert';
import { setTimeout as wait } from 'node:timers/promises';
import { Jobs } from '@holdfast/queue';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { AppModule } from './app.module.js';
import { Orders } from './orders.js';

async function outcomeOf(jobs: Jobs, id: string): Promise<string> {
  for (let left = 300; left > 0; left--) {
    const job = await jobs.find(id);
    if (job?.finishedAt) return `${job.state} ${job.outcome ?? 'without a word'}`;
    await wait(100);
  }
  throw new Error(`Job ${id} was not done within 30 s.`);
}

async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'fatal', 'warn'] });
  try {
    const receipt = await app.get(Orders).place('A-1');
    const sale = await app.get(Orders).sell('corner');
    assert.equal(await outcomeOf(app.get(Jobs), receipt), 'SUCCEEDED receipt.sent');
    assert.equal(await outcomeOf(app.get(Jobs), sale), 'SUCCEEDED without a word');
    const dataSource = app.get(DataSource);
    assert.deepEqual(await dataSource.query('SELECT * FROM orders'), [{ id: 'A-1', receipt: 'receipt of A-1' }]);
    assert.deepEqual(await dataSource.query('SELECT sold FROM shop'), [{ sold: 1 }]);
  } finally {
    await app.close();
  }
  console.log('enqueued, ran, stopped');
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
