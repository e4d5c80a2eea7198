import { parseDuration } from '@holdfast/kernel';
import type { KindDepth } from '../ports/job-store.js';
import type { RunnerVitals } from '../ports/runner.vitals.js';
import { type HealthCheckOptions, type HealthFinding, HealthIndicator } from './health.indicator.js';
import { judgeRunner } from './runner.judgement.js';
import { SharedLook } from './shared.look.js';

const DEFAULT_BACKLOG = '15m';
/** Counting what is due is not free while much is: an answer is good for this long. */
const DEPTH_FRESH_MS = 30_000;
/** What was counted longer ago says nothing any more. */
const DEPTH_RECENT_MS = 300_000;

/** RunnerHealthOptions are what the check of a runner takes. */
export interface RunnerHealthOptions<
  DegradedAs extends 'degraded' | 'up' = 'degraded' | 'up',
> extends HealthCheckOptions<DegradedAs> {
  /** backlog is the age from which on due jobs of its kinds make it degraded; `'off'` counts none. Default `'15m'`. */
  readonly backlog?: string;
}

/** RunnerHealthParts are where the signs come from. */
export interface RunnerHealthParts {
  readonly depth: (kinds: readonly string[]) => Promise<KindDepth[]>;
  readonly vitals: () => RunnerVitals;
}

/**
 * RunnerHealthIndicator tells whether this process can find work (H1): from the vital signs of its loop, so that one that died or is stuck is down
 * (K50), and one whose slots are all taken is not (K143).
 *
 * Down: not started, draining, stopped, stuck, or unable to claim for three attempts or ten seconds. Degraded: due jobs older than `backlog`, or a part of
 * the loop that fails without which it still works. Nothing but the backlog is asked of the database, by the store's `depth`, once in half a
 * minute; what that does not answer in time is left out.
 */
export class RunnerHealthIndicator extends HealthIndicator<RunnerHealthOptions> {
  private readonly due: SharedLook<KindDepth[]>;

  constructor(private readonly parts: RunnerHealthParts) {
    super();
    this.due = new SharedLook({ freshMs: DEPTH_FRESH_MS, look: () => parts.depth(parts.vitals().kinds) });
  }

  protected async look(timeoutMs: number, options?: RunnerHealthOptions): Promise<HealthFinding> {
    const { backlog = DEFAULT_BACKLOG } = options ?? {};
    const backlogMs = backlog === 'off' ? Infinity : parseDuration(backlog);
    const finding = this.judge(backlogMs);
    if (finding.status === 'down' || backlog === 'off') return finding;
    await this.due.take(timeoutMs);
    return this.judge(backlogMs);
  }

  private judge(backlogMs: number): HealthFinding {
    const depth = backlogMs === Infinity ? undefined : this.due.recent(DEPTH_RECENT_MS);
    return judgeRunner({ backlogMs, depth, now: performance.now(), vitals: this.parts.vitals() });
  }
}
