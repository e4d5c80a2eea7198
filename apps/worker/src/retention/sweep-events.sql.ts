/** SWEEP_BATCH is how many events go in one transaction: it is short, and holds few locks, however much has become old. */
export const SWEEP_BATCH = 500;

/** TenantRetentionRow is how long a tenant keeps its events. */
export interface TenantRetentionRow {
  readonly retention_days: number;
}

/** TENANT_RETENTION finds the tenant `$1`; under another scope than its own there is none. */
export const TENANT_RETENTION = 'SELECT retention_days::int AS retention_days FROM tenant WHERE id = $1';

/** SweepRow is what a batch came to. */
export interface SweepRow {
  readonly deliveries: number;
  readonly events: number;
}

/**
 * SWEEP_EVENTS removes at most `$2` events that are older than `$1` days, the oldest first, with their deliveries.
 *
 * Scope: row level security leaves the tenant's rows alone. Locks: the events, then their deliveries; an event that somebody holds is left for the next
 * sweep, so that nobody waits. Index: event by tenant and moment, which is why the moment is the transaction's: one that moves cannot be looked up.
 */
export const SWEEP_EVENTS = `
WITH old AS (
  SELECT tenant_id, id FROM event
  WHERE received_at < now() - make_interval(days => $1::int)
  ORDER BY received_at, id LIMIT $2::int
  FOR UPDATE SKIP LOCKED
), deliveries AS (
  DELETE FROM delivery USING old WHERE delivery.tenant_id = old.tenant_id AND delivery.event_id = old.id RETURNING 1
), events AS (
  DELETE FROM event USING old WHERE event.tenant_id = old.tenant_id AND event.id = old.id RETURNING 1
)
SELECT (SELECT count(*) FROM events)::int AS events, (SELECT count(*) FROM deliveries)::int AS deliveries`;
