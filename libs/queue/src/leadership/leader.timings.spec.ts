import { timingsOf } from './leader.timings.js';

const TICKS = [100, 101, 133, 250, 999, 1_000, 2_500, 10_000, 60_001, 3_600_000, 86_400_000];

describe('the timings of a leader', () => {
  it.each(TICKS)('L2: with a tick of %d ms the belief ends before the server can free the lock', (tickMs) => {
    const { beliefMs, idleInTransactionMs, idleSessionMs } = timingsOf(tickMs);
    // A proof that was sent at 0 is done at the server at some moment from 0 on: the earlier, the sooner the session may be ended.
    const earliestEndOfSession = 0 + Math.min(idleInTransactionMs, idleSessionMs);
    expect(beliefMs).toBeLessThan(earliestEndOfSession);
    // What is in between covers clocks that run at different speeds, and whole milliseconds.
    expect(earliestEndOfSession - beliefMs).toBeGreaterThanOrEqual(tickMs * 0.09);
  });

  it.each(TICKS)(
    'L2: with a tick of %d ms a silent leader is freed within the tick, wherever it fell silent',
    (tickMs) => {
      const { idleInTransactionMs, idleSessionMs, statementMs } = timingsOf(tickMs);
      expect(idleSessionMs).toBeLessThan(tickMs);
      expect(statementMs + idleInTransactionMs).toBeLessThan(tickMs);
    },
  );

  it.each(TICKS)('L2: with a tick of %d ms a heartbeat that waits for a statement still comes in time', (tickMs) => {
    const { beliefMs, heartbeatMs, statementMs } = timingsOf(tickMs);
    expect(heartbeatMs + statementMs).toBeLessThan(beliefMs);
  });

  it.each(TICKS)('L2: with a tick of %d ms connecting and asking ends within the tick', (tickMs) => {
    const { answerMs, connectMs } = timingsOf(tickMs);
    expect(answerMs + connectMs).toBeLessThan(tickMs);
  });
});
