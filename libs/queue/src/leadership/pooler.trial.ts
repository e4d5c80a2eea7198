import { type NewSession, trySession } from '@holdfast/kernel';
import type { ClientConfig } from 'pg';
import { PoolerError } from '../errors/pooler.error.js';

/**
 * admitSession answers the backend of a new session, and throws PoolerError where the session has none to itself (L4).
 *
 * What cannot be found out here, because the second connection of the trial is not to be had, is found out later: the lock is only taken on the backend
 * that is answered here, and each proof compares again.
 */
export async function admitSession(session: NewSession, config: ClientConfig, withinMs: number): Promise<number> {
  const { backend, shared } = await trySession(session, config, withinMs);
  if (shared !== undefined) throw new PoolerError(shared);
  return backend;
}
