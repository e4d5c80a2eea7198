/** outageDelayMs answers how long to wait for another side that was not reached: as long as it has been away already, within [base, max] (R10). */
export function outageDelayMs(awayMs: number, bounds: { baseMs: number; maxMs: number }): number {
  return Math.round(Math.min(bounds.maxMs, Math.max(bounds.baseMs, awayMs)));
}
