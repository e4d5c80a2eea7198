import type { DutyContext } from '../../ports/duty.js';
import type { Housekeeping } from '../../ports/housekeeping.js';
import type { Reporter } from '../../ports/reporter.js';

/** PostgresHealthDuty reports what PostgreSQL says of itself that predicts trouble (M3). */
export class PostgresHealthDuty {
  constructor(
    private readonly housekeeping: Housekeeping,
    private readonly reporter: Reporter,
  ) {}

  /** forget has nothing to let go of. */
  forget(): void {
    return undefined;
  }

  async run(ctx: DutyContext): Promise<void> {
    const health = await this.housekeeping.databaseHealth();
    if (ctx.isLeader) this.reporter.report({ type: 'postgres.health', health });
  }
}
