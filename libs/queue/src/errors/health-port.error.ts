import { HoldfastError, property } from '@holdfast/kernel/pure';

/** HealthPortError says that the health of this process cannot be served where it was told to. */
export class HealthPortError extends HoldfastError {
  constructor(
    readonly host: string,
    readonly port: number,
    cause: unknown,
  ) {
    super('queue.health_port', `The health port ${port} on ${host} cannot be used: ${remedyFor(cause)}.`, { cause });
  }
}

function remedyFor(cause: unknown): string {
  const code = property(cause, 'code');
  if (code === 'EADDRINUSE') return 'it is taken: stop the other program, or choose another healthPort';
  if (code === 'EACCES') return 'this account may not listen there: choose a healthPort above 1023';
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return 'healthHost is no address of this machine';
  if (code === 'ERR_SOCKET_BAD_PORT') return 'healthPort must be from 0 to 65535';
  return 'see cause';
}
