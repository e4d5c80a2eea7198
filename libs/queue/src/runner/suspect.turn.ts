import type { JobStore } from '../ports/job-store.js';
import type { Reporter } from '../ports/reporter.js';
import type { Claimed, Claimer } from './claimer.js';
import type { KindSlots } from './kind.slots.js';

const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 300_000;

/** SuspectMove is what the loop does next: claim as always, wait for running jobs to end, or run one suspect alone. */
export type SuspectMove =
  | { readonly type: 'alone'; readonly claimed: Claimed }
  | { readonly type: 'claim' }
  | { readonly type: 'wait'; readonly forMs: number };

/**
 * SuspectTurn runs jobs whose last run vanished with nothing else running in this process, so that innocents do not die with them (Q12).
 *
 * Busy: claiming stops until the running jobs have ended, for a bounded time; else it is tried again later. Idle: they run one after another.
 */
export class SuspectTurn {
  /** alone: a suspect runs; nothing is claimed until it has ended, however long that takes. */
  private alone = false;
  private notBefore = -Infinity;
  private postponed = 0;
  private quietBy: number | undefined;

  constructor(
    private readonly store: JobStore,
    private readonly claimer: Claimer,
    private readonly reporter: Reporter,
    private readonly slots: KindSlots,
    private readonly kinds: readonly string[],
    private readonly quiesceMs: number,
  ) {}

  /** next answers the next move. `look`: this is a poll or a wake, and it is time to ask whether there are any. */
  async next(look: boolean): Promise<SuspectMove> {
    const now = performance.now();
    const idle = this.slots.running === 0;
    if (this.alone && !idle) return { type: 'wait', forMs: Infinity };
    this.alone = false;
    if (this.quietBy !== undefined) return this.quiet(now, this.quietBy, idle);
    if (!look || now < this.notBefore) return { type: 'claim' };
    if (idle) return this.claimOne(now + this.quiesceMs);
    const due = await this.store.suspectsDue(this.kinds);
    if (due === 0) return { type: 'claim' };
    this.reporter.report({ type: 'suspects.awaited', due, running: this.slots.running });
    this.quietBy = now + this.quiesceMs;
    return this.quiet(now, this.quietBy, this.slots.running === 0);
  }

  private async claimOne(quietBy: number): Promise<SuspectMove> {
    const claimed = await this.claimer.claimSuspect({ fullLook: true, kinds: this.slots.ask(), limit: 1 });
    this.alone = claimed.jobs.length > 0;
    this.quietBy = this.alone ? quietBy : undefined;
    if (!this.alone) return { type: 'claim' };
    this.postponed = 0;
    return { type: 'alone', claimed };
  }

  /** postpone lets the others have their turn, also when suspects have had theirs for long. */
  private postpone(now: number): SuspectMove {
    this.quietBy = undefined;
    this.postponed += 1;
    const retryMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(this.postponed - 1, 10));
    this.notBefore = now + retryMs;
    this.reporter.report({ type: 'suspects.postponed', retryMs, running: this.slots.running });
    return { type: 'claim' };
  }

  private quiet(now: number, quietBy: number, idle: boolean): Promise<SuspectMove> | SuspectMove {
    if (now >= quietBy) return this.postpone(now);
    return idle ? this.claimOne(quietBy) : { type: 'wait', forMs: quietBy - now };
  }
}
