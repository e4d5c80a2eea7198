import { jobStateName } from '../../domain/job-state.js';
import { ENDINGS, type Retention } from '../../domain/retention.js';
import type { DutyContext } from '../../ports/duty.js';
import type { ExpiredJobs, Housekeeping, SweepMark } from '../../ports/housekeeping.js';
import type { Reporter } from '../../ports/reporter.js';

/** RetentionLimits bound one run. */
export interface RetentionLimits {
  /** batch is the most jobs of one statement. */
  readonly batch: number;
  /** budgetMs is how long a run removes: what is left then is the next run's. */
  readonly budgetMs: number;
}

export const RETENTION_LIMITS: RetentionLimits = { batch: 500, budgetMs: 15_000 };

/** Rows that crashed processes have left: each run takes so many at most. */
const STRAYS = 1_000;

/** Share is what is expired of one kind and state, and how far this run has come with it. */
interface Share extends ExpiredJobs {
  mark: SweepMark | undefined;
  more: boolean;
  removed: number;
}

/**
 * RetentionDuty removes finished jobs that have been kept for long enough, in small batches, for a bounded time (S5).
 *
 * Kinds have their turns, a batch each, so that one with millions holds up none of the others. A run that had no time for all kinds is followed by one that
 * begins with those it did not come to.
 */
export class RetentionDuty {
  private after: string | undefined;

  constructor(
    private readonly housekeeping: Housekeeping,
    private readonly reporter: Reporter,
    private readonly retention: Retention,
    private readonly limits = RETENTION_LIMITS,
  ) {}

  /** forget lets go of where it stopped: another process leads now. */
  forget(): void {
    this.after = undefined;
  }

  async run(ctx: DutyContext): Promise<void> {
    const until = performance.now() + this.limits.budgetMs;
    const goesOn = () => ctx.isLeader && !ctx.signal.aborted && performance.now() < until;
    await this.housekeeping.sweepRunRows(STRAYS);
    do {
      if (!goesOn()) return;
      const page = await this.housekeeping.expired(this.after, this.retention);
      this.after = page.next;
      await this.sweep(page.expired, goesOn);
    } while (this.after !== undefined);
  }

  /** sweep tells what it has removed also where it fails in the middle: each batch has committed. */
  private async sweep(expired: readonly ExpiredJobs[], goesOn: () => boolean): Promise<void> {
    const shares: Share[] = expired.map((jobs) => ({ ...jobs, mark: undefined, more: true, removed: 0 }));
    try {
      let left = shares;
      while (left.length > 0) {
        for (const share of left) {
          if (!goesOn()) return;
          await this.takeBatch(share);
        }
        left = left.filter(({ more }) => more);
      }
    } finally {
      for (const { ending, kind, more, removed } of shares.filter((share) => share.removed > 0))
        this.reporter.report({ type: 'retention.swept', kind, more, removed, state: jobStateName(ENDINGS[ending]) });
    }
  }

  private async takeBatch(share: Share): Promise<void> {
    const { ending, keepMs, kind } = share;
    const { batch: limit } = this.limits;
    const { mark, removed } = await this.housekeeping.sweep({ after: share.mark, ending, keepMs, kind, limit });
    share.mark = mark;
    share.more = mark !== undefined && removed >= limit;
    share.removed += removed;
  }
}
