import { listen } from '@holdfast/hub';
import { ConsoleLogger, filterLogLevels } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { WorkerConfiguration } from './configuration/worker.configuration.js';
import { WorkerModule } from './worker.module.js';

/**
 * startWorker reads the configuration, connects, runs jobs, and answers for its health.
 *
 * Throws ConfigurationError with every problem of the environment, or the reason why it could not start; nothing is left open then.
 * SIGTERM drains it: no new claim, running jobs finish within the grace, then the process ends with 0.
 */
export async function startWorker(env: NodeJS.ProcessEnv): Promise<NestExpressApplication> {
  const configuration = WorkerConfiguration.read(env);
  const app = await NestFactory.create<NestExpressApplication>(WorkerModule.with(configuration), {
    abortOnError: false,
    bodyParser: false,
    logger: new ConsoleLogger({ logLevels: filterLogLevels(`>=${configuration.logLevel}`) }),
  });
  app.disable('x-powered-by');
  app.enableShutdownHooks(undefined, { useProcessExit: true });
  await listen(app, configuration);
  return app;
}
