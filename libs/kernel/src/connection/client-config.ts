import type { ClientConfig, Pool } from 'pg';

/** What a pool takes on top of a client's settings, and what would change the meaning of answers or of deadlines on a connection of ours. */
const LEFT_OUT = new Set([
  'Client',
  'Promise',
  'allowExitOnIdle',
  'idleTimeoutMillis',
  'log',
  'max',
  'maxLifetimeSeconds',
  'maxUses',
  'min',
  'onConnect',
  'pipeline',
  'poolSize',
  'query_timeout',
  'types',
  'verify',
]);

/** clientConfigOf answers how a pool connects: address, TLS, the password or its function, for a connection outside the pool. */
export function clientConfigOf(pool: Pool): ClientConfig {
  const { options } = pool;
  const config = Object.fromEntries(Object.entries(options).filter(([key]) => !LEFT_OUT.has(key))) as ClientConfig;
  // The pool hides the password from enumeration.
  return options.password === undefined ? config : { ...config, password: options.password };
}
