import type { DutyContext } from '../../ports/duty.js';
import type { Reporter } from '../../ports/reporter.js';
import type { RunnerRoster } from '../../ports/runner.roster.js';

/**
 * UnhandledKindsDuty reports live jobs of kinds that no runner which is there runs, when they change (S6).
 *
 * A kind is told when two looks in a row find it: while a deployment is replaced its runners are away for a moment.
 */
export class UnhandledKindsDuty {
  private seen: readonly string[] = [];
  private told: readonly string[] = [];

  constructor(
    private readonly roster: RunnerRoster,
    private readonly reporter: Reporter,
    /** sweepDuties takes away what is left of duties that are no longer in the code. */
    private readonly sweepDuties: () => Promise<unknown>,
  ) {}

  /** forget lets go of what was seen: another process leads now. */
  forget(): void {
    this.seen = [];
    this.told = [];
  }

  async run(ctx: DutyContext): Promise<void> {
    const found = await this.roster.unhandledKinds();
    const lasting = found.filter((kind) => this.seen.includes(kind));
    this.seen = found;
    if (ctx.isLeader && lasting.join() !== this.told.join()) {
      this.told = lasting;
      this.reporter.report({ type: 'kinds.unhandled', kinds: lasting });
    }
    await this.roster.sweep();
    await this.sweepDuties();
  }
}
