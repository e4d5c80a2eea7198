import 'reflect-metadata';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Controller, Get, type INestApplication, type ModuleMetadata, Optional } from '@nestjs/common';
import { HealthCheck, HealthCheckService, type HealthIndicatorFunction, TerminusModule } from '@nestjs/terminus';
import { Test } from '@nestjs/testing';
import {
  LeadershipHealthIndicator,
  QueueDatabaseHealthIndicator,
  QueueMigrationsHealthIndicator,
  RunnerHealthIndicator,
  type RunnerHealthOptions,
} from '../../src/index.js';

const options: RunnerHealthOptions<'degraded'> = { timeoutMs: 1_000 };

/** ReadyController is an application's own, as the guide has it. */
@Controller('health')
export class ReadyController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly database: QueueDatabaseHealthIndicator,
    private readonly migrations: QueueMigrationsHealthIndicator,
    private readonly runner: RunnerHealthIndicator,
    @Optional() private readonly leadership?: LeadershipHealthIndicator,
  ) {}

  @Get('ready')
  @HealthCheck()
  ready() {
    const { leadership } = this;
    const ofScheduler: HealthIndicatorFunction[] = leadership
      ? [() => leadership.check('leadership', { leaderWithin: '5s', timeoutMs: 1_000 })]
      : [];
    return this.health.check([
      () => this.database.check('database', options),
      () => this.migrations.check('migrations', options),
      () => this.runner.check('runner', options),
      ...ofScheduler,
    ]);
  }
}

/** Answer is what a probe got. */
export interface Answer {
  readonly body: {
    readonly details: Readonly<Record<string, { message?: string; status: string } & Record<string, unknown>>>;
    readonly status: string;
  };
  readonly http: number;
  readonly tookMs: number;
}

/** HealthApp is an application with terminus and the queue. */
export class HealthApp {
  private constructor(
    readonly app: INestApplication,
    private readonly port: number,
  ) {}

  static async start(metadata: ModuleMetadata): Promise<HealthApp> {
    const module = await Test.createTestingModule({
      ...metadata,
      controllers: [ReadyController],
      imports: [TerminusModule.forRoot({ logger: false }), ...(metadata.imports ?? [])],
    }).compile();
    module.useLogger(false);
    const app = module.createNestApplication();
    await app.listen(0, '127.0.0.1');
    return new HealthApp(app, ((app.getHttpServer() as Server).address() as AddressInfo).port);
  }

  async ready(): Promise<Answer> {
    const startedAt = performance.now();
    const response = await fetch(`http://127.0.0.1:${this.port}/health/ready`);
    const body = (await response.json()) as Answer['body'];
    return { body, http: response.status, tookMs: performance.now() - startedAt };
  }

  /** statuses answers the status of each key. */
  async statuses(): Promise<Record<string, string>> {
    const { details } = (await this.ready()).body;
    return Object.fromEntries(Object.entries(details).map(([key, { status }]) => [key, status]));
  }
}
