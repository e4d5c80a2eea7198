import { listen } from '@holdfast/hub';
import { ConsoleLogger, filterLogLevels } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ApiModule } from './api.module.js';
import { ApiConfiguration } from './configuration/api.configuration.js';

/**
 * startApi reads the configuration, connects and listens.
 *
 * Throws ConfigurationError with every problem of the environment, or the reason why it could not start; nothing is left open then.
 */
export async function startApi(env: NodeJS.ProcessEnv): Promise<NestExpressApplication> {
  const configuration = ApiConfiguration.read(env);
  const app = await NestFactory.create<NestExpressApplication>(ApiModule.with(configuration), {
    abortOnError: false,
    bodyParser: false,
    logger: new ConsoleLogger({ logLevels: filterLogLevels(`>=${configuration.logLevel}`) }),
  });
  app.useBodyParser('json', { limit: configuration.bodyLimitBytes });
  app.disable('x-powered-by');
  app.enableShutdownHooks(undefined, { useProcessExit: true });
  await listen(app, configuration);
  return app;
}
