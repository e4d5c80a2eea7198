import type { Migration, SchemaName } from '@holdfast/kernel';

/**
 * What retention and the gauges of deferred jobs read.
 *
 * Finished jobs are found kind by kind, because each kind may keep them for a time of its own: in an index by time alone those that are kept for long
 * would lie before those that are to go. `job_ended` takes the place of `job_finished`, so that a completion writes no entry more than before.
 */
export const retention: Migration = {
  id: '0011-retention',
  part: 'queue',
  written: '2026-12-01T00:00:11Z',
  down: (schema) => [
    `CREATE INDEX job_finished ON ${schema.of('job')} (state, finished_at, id) WHERE state >= 2`,
    `DROP INDEX ${schema.of('job_deferred')}`,
    `DROP INDEX ${schema.of('job_ended')}`,
    `DROP TABLE ${schema.of('job_retention')}`,
  ],
  up: (schema) => [
    ...jobRetention(schema),
    `CREATE INDEX job_ended ON ${schema.of('job')} (kind, state, finished_at, id) WHERE state >= 2`,
    `CREATE INDEX job_deferred ON ${schema.of('job')} (kind, deferred_since) WHERE state = 0 AND deferred_since IS NOT NULL`,
    `DROP INDEX ${schema.of('job_finished')}`,
  ],
};

function jobRetention(schema: SchemaName): string[] {
  const table = schema.of('job_retention');
  return [
    `CREATE TABLE ${table} (
  kind text COLLATE "C" NOT NULL,
  state smallint NOT NULL,
  keep interval,
  CONSTRAINT job_retention_pk PRIMARY KEY (kind, state),
  CONSTRAINT job_retention_state CHECK (state BETWEEN 2 AND 5)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0)`,
    `COMMENT ON TABLE ${table} IS 'Holdfast: how long definitions want their finished jobs kept; written by runners when they start.'`,
    `COMMENT ON COLUMN ${table}.state IS 'A final state of job: 2 SUCCEEDED, 3 FAILED (refused), 4 DEAD_LETTER, 5 CANCELLED.'`,
    `COMMENT ON COLUMN ${table}.keep IS 'How long after its end a job is removed; null: never.'`,
  ];
}
