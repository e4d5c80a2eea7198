import { Pool, type PoolConfig } from 'pg';

/** soakPool makes a pool whose clients may be ended at any moment: an error of one that nobody listens to would end the process. */
export function soakPool(config: PoolConfig): Pool {
  const pool = new Pool(config);
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
