import type { Pool } from 'pg';
import { ConnectionLostError } from '../errors/connection-lost.error.js';
import { PoolExhaustedError } from '../errors/pool-exhausted.error.js';
import { startTimer } from '../time/deadline.js';
import { CheckedOutClient } from './checked-out.client.js';

/** What the pool of `pg` says when its own patience ended while all its connections were in use. */
const POOL_TIMEOUT = 'timeout exceeded when trying to connect';

/**
 * acquireClient takes a client from the application's pool, or rejects after `timeoutMs`; one that arrives later goes straight back (K16).
 *
 * Rejects with PoolExhaustedError when all connections are in use, else with ConnectionLostError.
 */
export function acquireClient(pool: Pool, timeoutMs: number): Promise<CheckedOutClient> {
  const startedAt = performance.now();
  const failure = (cause?: unknown) => {
    const waitedMs = Math.round(performance.now() - startedAt);
    return saysExhausted(pool, cause)
      ? new PoolExhaustedError(pool.options.max, waitedMs, pool.waitingCount, cause)
      : new ConnectionLostError('connect', cause ?? new Error(`No connection within ${timeoutMs} ms.`));
  };
  return new Promise((resolve, reject) => {
    let late = false;
    const timer = startTimer(timeoutMs, () => {
      late = true;
      reject(failure());
    });
    // Not as a promise: a backend that is terminated as soon as it is ready says both in one packet, and between the pool's listener for errors
    // and ours there must not be a moment in which the second would end the process.
    pool.connect((error, client) => {
      timer.clear();
      if (!client) reject(failure(error));
      else if (late) client.release();
      else resolve(new CheckedOutClient(client));
    });
  });
}

function saysExhausted(pool: Pool, cause: unknown): boolean {
  if (cause !== undefined) return cause instanceof Error && cause.message === POOL_TIMEOUT;
  return pool.totalCount >= pool.options.max && pool.idleCount === 0;
}
