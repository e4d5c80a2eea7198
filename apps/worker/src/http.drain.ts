import type { Server } from 'node:http';
import { Injectable, type BeforeApplicationShutdown, type OnApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

const PATIENCE_MS = 1_000;

/** HttpDrain ends connections that outlast a stop: else a client that never finishes its request would hold the process up for minutes (K56). */
@Injectable()
export class HttpDrain implements BeforeApplicationShutdown, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly adapterHost: HttpAdapterHost) {}

  beforeApplicationShutdown(): void {
    const server = this.adapterHost.httpAdapter.getHttpServer() as Server;
    this.timer ??= setTimeout(() => server.closeAllConnections(), PATIENCE_MS);
  }

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
  }
}
