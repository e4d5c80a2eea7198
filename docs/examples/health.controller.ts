import { QueueDatabaseHealthIndicator, QueueMigrationsHealthIndicator, RunnerHealthIndicator } from '@holdfast/queue';
import { Controller, Get } from '@nestjs/common';
import { HealthCheck, HealthCheckService } from '@nestjs/terminus';

@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly database: QueueDatabaseHealthIndicator,
    private readonly migrations: QueueMigrationsHealthIndicator,
    private readonly runner: RunnerHealthIndicator,
  ) {}

  @Get('live')
  live() {
    return { status: 'ok' };
  }

  @Get('ready')
  @HealthCheck()
  ready() {
    return this.health.check([
      () => this.database.check('database'),
      () => this.migrations.check('migrations'),
      () => this.runner.check('runner', { backlog: '15m' }),
    ]);
  }
}
