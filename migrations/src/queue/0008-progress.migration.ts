import type { Migration } from '@holdfast/kernel';
import { deleteJobs } from './functions/delete-jobs.function.js';

/**
 * How far runs have come, as they report it: a narrow row of its own for each job that does, without a foreign key, so that reports neither touch nor lock
 * the job's row. `claimed_at` says which run a report is of, also once it has ended.
 */
export const progress: Migration = {
  id: '0008-progress',
  part: 'queue',
  written: '2026-12-01T00:00:08Z',
  down: (schema) => [...deleteJobs(schema, { create: 'CREATE OR REPLACE' }), `DROP TABLE ${schema.of('job_progress')}`],
  up: (schema) => {
    const table = schema.of('job_progress');
    return [
      `CREATE TABLE ${table} (
  job_id bigint NOT NULL,
  claimed_at timestamptz NOT NULL,
  fraction double precision NOT NULL,
  CONSTRAINT job_progress_pk PRIMARY KEY (job_id),
  CONSTRAINT job_progress_fraction CHECK (fraction BETWEEN 0 AND 1)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0)`,
      `COMMENT ON TABLE ${table} IS 'Holdfast: what runs have last reported of their progress; goes with its job.'`,
      `COMMENT ON COLUMN ${table}.claimed_at IS 'The claimed_at of the job in the run that reported; of another run than the last one it means nothing.'`,
      `COMMENT ON COLUMN ${table}.fraction IS 'From 0 to 1.'`,
      ...deleteJobs(schema, {
        create: 'CREATE OR REPLACE',
        runTables: ['job_cancel', 'job_hold', 'job_progress', 'job_renewal'],
      }),
    ];
  },
};
