import { LEADER_LOCK_CLASS } from '../lock.key.js';

/** HELD_LOCKS is the leaders' locks that this very backend holds, as rows of `pg_locks`; `objsubid` 2 marks the keys of two integers. */
export const HELD_LOCKS = `pg_catalog.pg_locks AS l
  WHERE l.locktype = 'advisory' AND l.pid = pg_catalog.pg_backend_pid() AND l.granted AND l.objsubid = 2 AND l.classid = ${LEADER_LOCK_CLASS}`;
