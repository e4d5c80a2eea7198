import {
  LeadershipHealthIndicator,
  QueueDatabaseHealthIndicator,
  QueueMigrationsHealthIndicator,
  RunnerHealthIndicator,
} from '@holdfast/queue';
import { Controller, Get, HttpStatus, Logger, Optional, Res, ServiceUnavailableException } from '@nestjs/common';
import { HealthCheck, HealthCheckService, type HealthIndicatorFunction } from '@nestjs/terminus';

/** HealthController tells whether the process lives and whether it can do its work: that of the roles it has. */
@Controller('health')
export class HealthController {
  private readonly checks: HealthIndicatorFunction[];
  private readonly logger = new Logger(HealthController.name);
  private ready = true;

  constructor(
    private readonly health: HealthCheckService,
    database: QueueDatabaseHealthIndicator,
    migrations: QueueMigrationsHealthIndicator,
    @Optional() runner?: RunnerHealthIndicator,
    @Optional() leadership?: LeadershipHealthIndicator,
  ) {
    this.checks = [() => database.check('database'), () => migrations.check('migrations')];
    if (runner) this.checks.push(() => runner.check('runner'));
    if (leadership) this.checks.push(() => leadership.check('leadership'));
  }

  /** live touches no dependency. */
  @Get('live')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** readiness answers 503 when one of the checks is down; each has its own key, and answers within a second. */
  @Get('ready')
  @HealthCheck()
  async readiness(@Res({ passthrough: true }) response: { status(code: number): unknown }): Promise<object> {
    try {
      const result = await this.health.check(this.checks);
      this.note(true, 'Ready again.');
      return result;
    } catch (error) {
      if (!(error instanceof ServiceUnavailableException)) throw error;
      const result = error.getResponse() as { error?: object };
      this.note(false, `Not ready: ${JSON.stringify(result.error)}`);
      response.status(HttpStatus.SERVICE_UNAVAILABLE);
      return result;
    }
  }

  /** Probes come every few seconds: what changes is said once. */
  private note(ready: boolean, text: string): void {
    if (ready !== this.ready) this.logger.warn(text);
    this.ready = ready;
  }
}
