import type { CheckedOutClient } from '../connection/checked-out.client.js';

/** SessionBounds are the time limits that a session has by itself (its role's, its database's), in milliseconds, 0 for none. */
export interface SessionBounds {
  readonly idleInTransactionMs: number;
  readonly statementMs: number;
  /** transactionMs is undefined where the server has no `transaction_timeout` (before PostgreSQL 17). */
  readonly transactionMs: number | undefined;
}

const READ = `SELECT ${['transaction_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout']
  .map((name, at) => `(extract(epoch FROM current_setting('${name}', true)::interval) * 1000)::bigint::text AS b${at}`)
  .join(', ')}`;

/**
 * A server that is busy with a statement does not see that its client is gone, and a cancel request that overtakes the statement is lost: so the
 * session is told to look once a second, where it does not look already (R6). Servers on platforms that cannot refuse the setting.
 */
const LOOK_FOR_CLIENT = `SELECT set_config('client_connection_check_interval', '1000', false)
  WHERE current_setting('client_connection_check_interval') = '0'`;

const known = new WeakMap<object, SessionBounds>();

/** readSessionBounds answers the bounds of a client's session; it asks, and prepares the session, once per client. */
export async function readSessionBounds(checkedOut: CheckedOutClient): Promise<SessionBounds> {
  const cached = known.get(checkedOut.client);
  if (cached) return cached;
  const [answer] = await checkedOut.send(READ);
  await checkedOut.send(LOOK_FOR_CLIENT).catch(() => undefined);
  const row = answer?.rows[0] as Record<'b0' | 'b1' | 'b2', string | null>;
  const bounds: SessionBounds = {
    idleInTransactionMs: Number(row.b2),
    statementMs: Number(row.b1),
    transactionMs: row.b0 === null ? undefined : Number(row.b0),
  };
  known.set(checkedOut.client, bounds);
  return bounds;
}

/** The server keeps these settings in 32 bits: a longer bound, 25 days, would be refused and the transaction never begin (K55). */
const MAX_SETTING_MS = 2_147_483_647;

/** boundSettings answers the settings that end a transaction after `boundMs`, never looser than the session's own (R1), in the order to set them. */
export function boundSettings(bounds: SessionBounds, boundMs: number): [name: string, value: string][] {
  const bound = Math.min(MAX_SETTING_MS, Math.max(1, Math.floor(boundMs)));
  if (bounds.transactionMs !== undefined) {
    if (isTighter(bounds.transactionMs, bound)) return [];
    const set: [string, string] = ['transaction_timeout', String(bound)];
    // The server only arms the timer when it goes from off to on: a looser one that already runs is switched off first.
    return bounds.transactionMs > 0 ? [['transaction_timeout', '0'], set] : [set];
  }
  const settings: [string, string][] = [];
  if (!isTighter(bounds.statementMs, bound)) settings.push(['statement_timeout', String(bound)]);
  if (!isTighter(bounds.idleInTransactionMs, bound)) {
    settings.push(['idle_in_transaction_session_timeout', String(bound)]);
  }
  return settings;
}

function isTighter(sessionMs: number, boundMs: number): boolean {
  return sessionMs > 0 && sessionMs <= boundMs;
}
