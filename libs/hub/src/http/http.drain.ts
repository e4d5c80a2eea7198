import type { Server } from 'node:http';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

/** HTTP_DRAIN_MS is the token of how long a request in flight may still take once a stop has begun. */
export const HTTP_DRAIN_MS = Symbol('HTTP_DRAIN_MS');

/** HttpDrain ends connections that outlast a stop: else a client that never finishes its request would hold the process up for minutes (K56). */
@Injectable()
export class HttpDrain implements BeforeApplicationShutdown, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    @Inject(HTTP_DRAIN_MS) private readonly patienceMs: number,
  ) {}

  beforeApplicationShutdown(): void {
    const server = this.adapterHost.httpAdapter.getHttpServer() as Server;
    this.timer ??= setTimeout(() => server.closeAllConnections(), this.patienceMs);
  }

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
  }
}
