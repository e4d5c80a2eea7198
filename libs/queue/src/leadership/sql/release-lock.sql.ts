import { Statement } from '@holdfast/kernel';
import { LEADER_LOCK_CLASS } from '../lock.key.js';
import { silenceValues, type Silence } from '../silence.js';

/** ReleaseLockParams are the key and how long the session may be silent afterwards. */
export interface ReleaseLockParams {
  readonly key: number;
  readonly silence: Silence;
}

/**
 * Gives a leader's lock up, so that whoever tries next has it. `released` is false where the session did not hold it (K107).
 *
 * Locks: lets one advisory lock of the session go. Index: none. Fence: only the session that holds the lock can let it go.
 */
export const releaseLock = new Statement<ReleaseLockParams, { readonly released: boolean }>({
  name: 'release-lock',
  text: () => `
SELECT pg_catalog.pg_advisory_unlock(${LEADER_LOCK_CLASS}, $1::integer) AS released,
  pg_catalog.set_config('idle_session_timeout', $2::text, false),
  pg_catalog.set_config('idle_in_transaction_session_timeout', $3::text, false),
  pg_catalog.set_config('statement_timeout', $4::text, false)`,
  values: (p) => [p.key, ...silenceValues(p.silence)],
});
