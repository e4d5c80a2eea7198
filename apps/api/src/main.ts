import 'reflect-metadata';
import { reportStartFailure } from '@holdfast/hub';
import { Logger } from '@nestjs/common';
import { startApi } from './start-api.js';

async function main(): Promise<void> {
  const app = await startApi(process.env);
  new Logger('Api').log(`Listening on ${await app.getUrl()}`);
}

main().catch((error: unknown) => reportStartFailure('api', error));
