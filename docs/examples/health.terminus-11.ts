import { RunnerHealthIndicator } from '@holdfast/queue';
import { Controller, Get } from '@nestjs/common';
import { HealthCheck, HealthCheckService } from '@nestjs/terminus';

/** With terminus 11, which knows `up` and `down` alone. */
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly runner: RunnerHealthIndicator,
  ) {}

  @Get('ready')
  @HealthCheck()
  ready() {
    return this.health.check([() => this.runner.check('runner', { degradedAs: 'up' })]);
  }
}
