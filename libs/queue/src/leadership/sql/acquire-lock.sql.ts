import { Statement } from '@holdfast/kernel';
import { LEADER_LOCK_CLASS } from '../lock.key.js';
import { silenceValues, type Silence } from '../silence.js';

/** AcquireLockParams are the key, the session that is to hold it, and how long it may be silent then. */
export interface AcquireLockParams {
  readonly backend: number;
  readonly key: number;
  readonly silence: Silence;
}

/** AcquireLockRow tells whether the lock is held now, and by which backend it was asked for. */
export interface AcquireLockRow {
  readonly acquired: boolean;
  readonly backend: number;
  readonly standby: boolean;
}

/**
 * Tries to take a leader's lock for the session, and in the same statement bounds that session's silence (L1, L2): there is no moment in which a
 * lock is held without the bound. On another backend than the expected one, and on a standby, which has locks of its own, it takes nothing.
 *
 * Locks: one advisory lock of the session, tried and never waited for. Index: none. Fence: none.
 */
export const acquireLock = new Statement<AcquireLockParams, AcquireLockRow>({
  name: 'acquire-lock',
  text: () => `
SELECT s.backend, s.standby,
  CASE
    WHEN s.backend <> $2::integer OR s.standby THEN false
    WHEN pg_catalog.pg_try_advisory_lock(${LEADER_LOCK_CLASS}, $1::integer) THEN
      pg_catalog.set_config('idle_session_timeout', $3::text, false) IS NOT NULL
      AND pg_catalog.set_config('idle_in_transaction_session_timeout', $4::text, false) IS NOT NULL
      AND pg_catalog.set_config('statement_timeout', $5::text, false) IS NOT NULL
    ELSE false
  END AS acquired
FROM (SELECT pg_catalog.pg_backend_pid() AS backend, pg_catalog.pg_is_in_recovery() AS standby) AS s`,
  values: (p) => [p.key, p.backend, ...silenceValues(p.silence)],
});
