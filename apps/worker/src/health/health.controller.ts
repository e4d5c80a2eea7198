import { withDeadline } from '@holdfast/kernel';
import { Controller, Get, Logger, ServiceUnavailableException } from '@nestjs/common';
import { DataSource } from 'typeorm';

const READY_DEADLINE_MS = 2_000;

/** HealthController tells whether the process lives and whether it can work. */
@Controller('health')
export class HealthController {
  private readonly logger = new Logger(HealthController.name);

  constructor(private readonly dataSource: DataSource) {}

  /** live touches no dependency. */
  @Get('live')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** ready answers 503 when the database does not answer within two seconds, an exhausted pool included. */
  @Get('ready')
  async ready(): Promise<{ status: 'ok' }> {
    try {
      await withDeadline(
        this.dataSource.query('SELECT 1'),
        READY_DEADLINE_MS,
        () => new Error(`no answer within ${READY_DEADLINE_MS} ms`),
      );
      return { status: 'ok' };
    } catch (error) {
      this.logger.warn(`The database cannot be reached: ${error instanceof Error ? error.message : 'unknown'}`);
      throw new ServiceUnavailableException('The database cannot be reached at the moment.');
    }
  }
}
