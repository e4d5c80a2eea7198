import { Statement } from '@holdfast/kernel';
import { lockObjectOf } from '../lock.key.js';
import { HELD_LOCKS } from './held-locks.sql.js';

/** LEADERSHIP_LOST is the SQLSTATE of a fence that found no lock. */
export const LEADERSHIP_LOST = 'HF003';

/**
 * Raises HF003 unless this session holds the lock, as the last statement before the COMMIT that travels with it (L3): one that merely answered
 * "no" would let COMMIT commit.
 *
 * Locks: none. Index: none. Fence: it is one. Sent inline, as a body of code takes no parameters.
 */
export const fenceLeader = new Statement<{ readonly key: number }, never>({
  name: 'fence-leader',
  text: () => `
DO $fence$ BEGIN
  IF NOT EXISTS (SELECT FROM ${HELD_LOCKS} AND l.objid = $1::oid) THEN
    RAISE EXCEPTION USING ERRCODE = '${LEADERSHIP_LOST}', MESSAGE = 'The leadership is lost.';
  END IF;
END $fence$`,
  values: (p) => [lockObjectOf(p.key)],
});
