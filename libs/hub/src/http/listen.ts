import type { INestApplication } from '@nestjs/common';
import { ConfigurationError } from '../configuration/configuration.error.js';

/** ListenAddress is where an app listens. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** listen initializes an app and makes it listen. Throws ConfigurationError when it may not listen there, else what failed; the app is closed then. */
export async function listen(app: INestApplication, address: ListenAddress): Promise<void> {
  try {
    await app.listen(address.port, address.host);
  } catch (error) {
    await app.close();
    throw portProblem(error, address);
  }
}

function portProblem(error: unknown, { host, port }: ListenAddress): unknown {
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
