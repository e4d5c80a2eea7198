import { parseDuration } from '@holdfast/kernel';
import { type HealthCheckOptions, type HealthFinding, HealthIndicator } from './health.indicator.js';
import { judgeLeadership, type LeadershipVitals } from './leadership.judgement.js';

const DEFAULT_LEADER_WITHIN = '2m';

/** LeadershipHealthOptions are what the check of leadership takes. */
export interface LeadershipHealthOptions<
  DegradedAs extends 'degraded' | 'up' = 'degraded' | 'up',
> extends HealthCheckOptions<DegradedAs> {
  /**
   * leaderWithin is for how long no leader may be seen to act before it is degraded; longer than your longest duty, as a leader is seen when it starts
   * one. Default `'2m'`.
   */
  readonly leaderWithin?: string;
}

/**
 * LeadershipHealthIndicator tells whether somebody leads, as far as this process can see, and whether its own scheduler ticks (H1, K50).
 *
 * Down: the scheduler does not run, or its loop is stuck. Degraded: no leader seen, or leadership cannot be asked for: then no duty runs, while jobs do. It
 * asks nobody: each tick has looked.
 */
export class LeadershipHealthIndicator extends HealthIndicator<LeadershipHealthOptions> {
  constructor(private readonly vitals: () => LeadershipVitals) {
    super();
  }

  protected look(_timeoutMs: number, options?: LeadershipHealthOptions): Promise<HealthFinding> {
    const leaderWithinMs = parseDuration(options?.leaderWithin ?? DEFAULT_LEADER_WITHIN);
    return Promise.resolve(judgeLeadership(this.vitals(), leaderWithinMs, performance.now()));
  }
}
