import { Statement } from '@holdfast/kernel';

/** HealthRow is what the server says of itself. */
export interface HealthRow {
  readonly application_name: string | null;
  /** dead rows by table, as JSON. */
  readonly dead: string;
  readonly oldest_ms: number | null;
  readonly pid: number | null;
  readonly usage: number;
  readonly xmin_age: number;
}

/**
 * Reads what predicts trouble: dead rows of the tables of this schema, the oldest open transaction of this database, and the notification queue (M3).
 *
 * Locks: none. Index: none, it reads statistics. Fence: none. A role sees when a transaction of another role began only with pg_read_all_stats (NULL otherwise,
 * and passed over); the oldest snapshot, prepared transactions and the queue it always sees. Never the text of a query. The own session is left out.
 */
export const readHealth = new Statement<object, HealthRow>({
  name: 'read-health',
  text: (schema) => `
WITH open AS (
  SELECT a.pid, a.application_name, a.xact_start AS since FROM pg_catalog.pg_stat_activity a
    WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.xact_start IS NOT NULL
  UNION ALL
  SELECT 0, 'prepared transaction ' || p.gid, p.prepared FROM pg_catalog.pg_prepared_xacts p WHERE p.database = current_database()
), oldest AS (
  SELECT o.pid, o.application_name, o.since FROM open o ORDER BY o.since LIMIT 1
)
SELECT
    coalesce((
      SELECT json_object_agg(s.relname, s.n_dead_tup) FROM pg_catalog.pg_stat_all_tables s WHERE s.schemaname = '${schema.name.replaceAll("'", "''")}'
    )::text, '{}') AS dead,
    o.pid, o.application_name, (extract(epoch FROM clock_timestamp() - o.since) * 1000)::float8 AS oldest_ms,
    pg_catalog.pg_notification_queue_usage() AS usage,
    coalesce((
      SELECT max(pg_catalog.age(a.backend_xmin)) FROM pg_catalog.pg_stat_activity a
        WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.backend_xmin IS NOT NULL
    ), 0)::int AS xmin_age
  FROM (SELECT) one LEFT JOIN oldest o ON true`,
  values: () => [],
});
