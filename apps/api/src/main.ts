import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { ConfigurationError } from './configuration/configuration.error.js';
import { startApi } from './start-api.js';

async function main(): Promise<void> {
  const app = await startApi(process.env);
  new Logger('Api').log(`Listening on ${await app.getUrl()}`);
}

main().catch((error: unknown) => {
  const reason =
    error instanceof ConfigurationError || !(error instanceof Error) ? String(error) : (error.stack ?? error.message);
  process.stderr.write(`The api could not start. ${reason}\n`);
  process.exit(1);
});
