/** LeaderTimings are the moments that follow from a tick. */
export interface LeaderTimings {
  /** answerMs is how long the client waits for a statement while nothing is held. */
  readonly answerMs: number;
  /** beliefMs is how long a proof is believed, from its send. */
  readonly beliefMs: number;
  /** connectMs is how long a new session may take. */
  readonly connectMs: number;
  /** heartbeatMs after the send of a proof the next one is sent. */
  readonly heartbeatMs: number;
  /** idleInTransactionMs is when the server ends the session of a leader that fell silent inside a transaction. */
  readonly idleInTransactionMs: number;
  /** idleSessionMs is when the server ends the session of a leader that fell silent. */
  readonly idleSessionMs: number;
  /** statementMs is when the server cancels a statement of the leader. */
  readonly statementMs: number;
}

/**
 * timingsOf answers the timings of a session that holds names with this tick; where it holds several, the smallest tick counts for all.
 *
 * **Why two leaders never believe at once.** A proof is a statement that the session answered. Let it be sent at `p`, by the client's monotonic clock,
 * and be done at the server at `e`. A message arrives after it was sent: `p ≤ e`. The server's idle timers start at `e`, again with each statement, so
 * it ends the session, and frees its locks, no earlier than
 *
 *     e + min(idleSession, idleInTransaction) = e + 0.7 tick ≥ p + 0.7 tick,
 *
 * and the leader believes until `p + 0.6 tick`. What is in between, 0.1 tick, is for clocks that run at different speeds. A proof that was under way,
 * or still is, makes `e` later and `p` not. So whatever is frozen and when, process or network in either direction: first the leader stops to believe, then the
 * server frees the lock, then somebody else can take it. Where the session is ended without its silence (an operator, a crash of the server), the old
 * leader learns of it with the closing of the socket, and at the latest when its belief ends; what it commits through that session is gone in any case (L3).
 *
 * **Why the successor acts within two ticks.** A leader that is frozen while its session is idle is freed after 0.8 tick; one that is frozen while the
 * server runs its statement is freed after 0.25 tick, when the statement is cancelled, and 0.7 tick of silence in its transaction: 0.95 tick. The
 * others look every tick.
 *
 * **Why a healthy leader keeps it.** A heartbeat is sent after 0.25 tick; it may wait for one statement, which the server lets live for another 0.25 tick, and
 * which is a proof itself. That is 0.5 tick, inside the belief of 0.6.
 */
export function timingsOf(tickMs: number): LeaderTimings {
  const part = (of: number) => Math.max(1, Math.round(tickMs * of));
  return {
    answerMs: part(0.35),
    beliefMs: part(0.6),
    connectMs: part(0.55),
    heartbeatMs: part(0.25),
    idleInTransactionMs: part(0.7),
    idleSessionMs: part(0.8),
    statementMs: part(0.25),
  };
}
