import type { DutyContext } from '../../ports/duty.js';
import type { Housekeeping } from '../../ports/housekeeping.js';
import type { JobStore } from '../../ports/job-store.js';
import type { Reporter } from '../../ports/reporter.js';
import type { RunnerRoster } from '../../ports/runner.roster.js';

/** The most kinds that are remembered: a bound for a table filled with kinds that were assembled from data. */
const MOST_KINDS = 1_000;

/** DepthDuty reports how much is due of each kind: those with jobs, those of every runner that is there, and those it has named before, at zero too (S2). */
export class DepthDuty {
  private readonly named = new Set<string>();

  constructor(
    private readonly store: JobStore,
    private readonly roster: RunnerRoster,
    private readonly housekeeping: Housekeeping,
    private readonly reporter: Reporter,
    /** kinds that have a handler in this process. */
    private readonly kinds: () => readonly string[],
  ) {}

  /** forget lets go of what was named: another process leads now. */
  forget(): void {
    this.named.clear();
  }

  async run(ctx: DutyContext): Promise<void> {
    const handled = [...new Set([...this.kinds(), ...(await this.roster.handledKinds())])];
    this.name(handled);
    const depths = await this.store.depth([...this.named]);
    this.name(depths.map(({ kind }) => kind));
    const deferred = await this.housekeeping.deferrals();
    // Only the leader reports: what a former one says would stay in its gauges.
    if (ctx.isLeader) this.reporter.report({ type: 'queue.depth', deferred, handled, kinds: depths });
  }

  private name(kinds: readonly string[]): void {
    for (const kind of kinds) if (this.named.size < MOST_KINDS) this.named.add(kind);
  }
}
