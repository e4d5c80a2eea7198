import 'reflect-metadata';
import { reportStartFailure } from '@holdfast/hub';
import { Logger } from '@nestjs/common';
import { startWorker } from './start-worker.js';

async function main(): Promise<void> {
  const app = await startWorker(process.env);
  new Logger('Worker').log(`Health on ${await app.getUrl()}/health/ready`);
}

main().catch((error: unknown) => reportStartFailure('worker', error));
