import { UnitOfWork, withDeadline } from '@holdfast/kernel';
import { Controller, Get, Logger, ServiceUnavailableException } from '@nestjs/common';

const READY_DEADLINE_MS = 2_000;
/** A server that only reads, as after a failover, fails it with 25006: so the connection is not used again (K33). */
const WRITABLE = `DO $$ BEGIN
  IF current_setting('transaction_read_only') = 'on' THEN RAISE read_only_sql_transaction; END IF;
END $$`;

/** HealthController tells whether the process lives and whether it can serve. */
@Controller('health')
export class HealthController {
  private readonly logger = new Logger(HealthController.name);

  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** live touches no dependency. */
  @Get('live')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** ready answers 503 when the database cannot be written to within two seconds: away, read-only, or its pool exhausted. */
  @Get('ready')
  async ready(): Promise<{ status: 'ok' }> {
    try {
      await withDeadline(
        this.unitOfWork.run((tx) => tx.sql.query(WRITABLE)),
        READY_DEADLINE_MS,
        () => new Error(`no answer within ${READY_DEADLINE_MS} ms`),
      );
      return { status: 'ok' };
    } catch (error) {
      this.logger.warn(`The database cannot be written to: ${error instanceof Error ? error.message : 'unknown'}`);
      throw new ServiceUnavailableException('The database cannot be written to at the moment.');
    }
  }
}
