import type { LeaderTimings } from './leader.timings.js';

/** Silence is how long the server puts up with a session that says nothing, and with one statement of it; undefined where it holds no lock. */
export type Silence = Pick<LeaderTimings, 'idleInTransactionMs' | 'idleSessionMs' | 'statementMs'> | undefined;

/** How the bounds of a session that holds nothing are: silence costs nobody anything, but a transaction and a statement have an end. */
const UNBOUND_MS = { idleInTransactionMs: 10_000, idleSessionMs: 0, statementMs: 10_000 };

/** silenceValues answers the three settings in the order in which the statements take them. */
export function silenceValues(silence: Silence): string[] {
  const { idleInTransactionMs, idleSessionMs, statementMs } = silence ?? UNBOUND_MS;
  return [idleSessionMs, idleInTransactionMs, statementMs].map(String);
}
