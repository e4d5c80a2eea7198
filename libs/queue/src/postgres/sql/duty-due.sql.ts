/**
 * DUTY_DUE_AT is when a row `d` of leader_duty is due again.
 *
 * One that runs, or whose process vanished, when its deadline is over; one that was asked for, at once; one that failed, sooner where retry_at says
 * so. A start that lies far in the future was written before the clock was set back: it is due now.
 */
export const dutyDueAt = (every: string) => `CASE
    WHEN d.started_at > clock_timestamp() + greatest(${every}, d.deadline) THEN clock_timestamp()
    WHEN d.ended_at IS NULL THEN d.started_at + d.deadline
    WHEN d.asked_at IS NOT NULL THEN d.asked_at
    ELSE least(d.started_at + ${every}, d.retry_at)
  END`;
