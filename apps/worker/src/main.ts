import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { ConfigurationError } from './configuration/configuration.error.js';
import { startWorker } from './start-worker.js';

async function main(): Promise<void> {
  const app = await startWorker(process.env);
  new Logger('Worker').log(`Health on ${await app.getUrl()}/health/ready`);
}

main().catch((error: unknown) => {
  const reason =
    error instanceof ConfigurationError || !(error instanceof Error) ? String(error) : (error.stack ?? error.message);
  process.stderr.write(`The worker could not start. ${reason}\n`);
  process.exit(1);
});
