import { Module, type DynamicModule } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { HealthController } from './health.controller.js';
import { HTTP_DRAIN_MS, HttpDrain } from './http.drain.js';

/** HttpEdgeModule is what both apps have of HTTP: the health endpoints, and an end to connections that outlast a stop. */
@Module({})
export class HttpEdgeModule {
  /** with takes how long requests in flight have at a stop, in milliseconds. */
  static with(drainMs: number): DynamicModule {
    return {
      module: HttpEdgeModule,
      controllers: [HealthController],
      // The controller logs itself, when something changes.
      imports: [TerminusModule.forRoot({ logger: false })],
      providers: [{ provide: HTTP_DRAIN_MS, useValue: drainMs }, HttpDrain],
    };
  }
}
