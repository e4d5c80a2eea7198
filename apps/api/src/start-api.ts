import { ConsoleLogger, filterLogLevels } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ApiModule } from './api.module.js';
import { ApiConfiguration } from './configuration/api.configuration.js';
import { ConfigurationError } from './configuration/configuration.error.js';

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
  try {
    await app.listen(configuration.port, configuration.host);
  } catch (error) {
    await app.close();
    throw portProblem(error, configuration);
  }
  return app;
}

function portProblem(error: unknown, { host, port }: ApiConfiguration): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  if (code === 'EADDRINUSE')
    return new ConfigurationError([
      `PORT: ${port} on ${host} is taken: stop the other program, or choose another port.`,
    ]);
  if (code === 'EACCES')
    return new ConfigurationError([`PORT: this account may not listen on ${port}: choose a port above 1023.`]);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new ConfigurationError([`HOST: ${host} is no address of this machine.`]);
  return error;
}
