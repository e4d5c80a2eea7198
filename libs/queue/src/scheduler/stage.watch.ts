import type { Reporter } from '../ports/reporter.js';
import type { SchedulerStage } from '../ports/scheduler.events.js';

/** The part of a tick after which a stage that failed for the first time is tried again. */
const FIRST_DELAY = 0.1;

/** StageWatch lets the scheduler live through errors: a stage that fails is told and tried again, later each time, a tick later at most. */
export class StageWatch {
  private failures = 0;

  constructor(
    private readonly stage: SchedulerStage,
    private readonly tickMs: number,
    private readonly reporter: Reporter,
  ) {}

  /** run answers what came of it; undefined for `value` and in how long it may be tried again when it failed. It never rejects. */
  async run<T>(
    work: () => Promise<T>,
  ): Promise<{ readonly error?: unknown; readonly retryMs?: number; readonly value?: T }> {
    try {
      const value = await work();
      if (this.failures > 0)
        this.reporter.report({ type: 'scheduler.recovered', failures: this.failures, stage: this.stage });
      this.failures = 0;
      return { value };
    } catch (error) {
      this.failures += 1;
      const grown = this.tickMs * FIRST_DELAY * 2 ** Math.min(this.failures - 1, 20);
      const delayMs = Math.round(Math.min(this.tickMs, grown) * (0.75 + Math.random() / 4));
      const { failures, stage } = this;
      this.reporter.report({ type: 'scheduler.failed', delayMs, error, failures, stage });
      return { error, retryMs: delayMs };
    }
  }
}
