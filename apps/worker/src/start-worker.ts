import { ConsoleLogger, filterLogLevels } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ConfigurationError } from './configuration/configuration.error.js';
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
  try {
    await app.listen(configuration.port, configuration.host);
  } catch (error) {
    await app.close();
    throw portProblem(error, configuration);
  }
  return app;
}

function portProblem(error: unknown, { host, port }: WorkerConfiguration): unknown {
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
