import type { HealthFinding } from './health.indicator.js';
import { problemIn } from './problem.words.js';

/** LeadershipVitals are the signs of life of what ticks for leadership; moments are of the monotonic clock. */
export interface LeadershipVitals {
  readonly isLeader: boolean;
  /** lastError is what the last tick failed with; undefined after one that did not. */
  readonly lastError: unknown;
  /** lastStepAt is when the last tick ended, one that failed too. */
  readonly lastStepAt: number | undefined;
  /** lastTickAt is when the last tick that did not fail ended. */
  readonly lastTickAt: number | undefined;
  /** leaderSeenAt is when a leader, this process or another one, was last seen to act. */
  readonly leaderSeenAt: number | undefined;
  /** startedAt is undefined before the start and after the stop. */
  readonly startedAt: number | undefined;
  readonly tickMs: number;
}

/** So many ticks may be missed before the loop counts as stuck, and half a minute more for what a tick may take. */
const MISSED_TICKS = 3;
const STUCK_AFTER_MS = 30_000;

/** judgeLeadership: down is whose ticks have ended; that nobody leads, or that this process cannot, leaves jobs running, and is degraded. */
export function judgeLeadership(vitals: LeadershipVitals, leaderWithinMs: number, now: number): HealthFinding {
  const { isLeader, lastError, leaderSeenAt, startedAt } = vitals;
  const ago = (moment: number | undefined) => (moment === undefined ? null : Math.round(now - moment));
  const details = { lastTickMsAgo: ago(vitals.lastTickAt), leader: isLeader, leaderSeenMsAgo: ago(leaderSeenAt) };
  if (startedAt === undefined) return { details, message: 'The scheduler does not run.', status: 'down' };
  // Before what its last tick ended with: that is as old as the loop's last step.
  const stillMs = now - (vitals.lastStepAt ?? startedAt);
  if (stillMs > MISSED_TICKS * vitals.tickMs + STUCK_AFTER_MS)
    return {
      details,
      message: `The scheduler's loop is stuck: it has not ticked for ${seconds(stillMs)}.`,
      status: 'down',
    };
  if (lastError !== undefined)
    return {
      details,
      message: `This process cannot lead, nor see who does: ${problemIn(lastError)}.`,
      status: 'degraded',
    };
  // Nobody is looked for before this process could have seen them.
  const unseenMs = now - Math.max(leaderSeenAt ?? -Infinity, startedAt);
  if (!isLeader && unseenMs > leaderWithinMs)
    return { details, message: `No leader has been seen to act for ${seconds(unseenMs)}.`, status: 'degraded' };
  return { details, status: 'up' };
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}
