import type { Migration } from '@holdfast/kernel';
import { cancelJob } from './functions/cancel-job.function.js';
import { replacing } from './functions/replacing.js';

/** Which job follows on the end of a job of a kind, for all who end one, also those who have never heard of the kind (R14). */
export const endings: Migration = {
  id: '0009-endings',
  part: 'queue',
  written: '2026-12-01T00:00:09Z',
  down: (schema) => [...replacing(cancelJob(schema)), `DROP TABLE ${schema.of('job_ending')}`],
  up: (schema) => [
    `CREATE TABLE ${schema.of('job_ending')} (
  kind text COLLATE "C" NOT NULL,
  state smallint NOT NULL,
  follow_up text COLLATE "C" NOT NULL,
  priority smallint NOT NULL,
  max_attempts integer,
  payload_version smallint NOT NULL,
  CONSTRAINT job_ending_pk PRIMARY KEY (kind, state, follow_up),
  CONSTRAINT job_ending_state CHECK (state BETWEEN 3 AND 5)
) WITH (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0)`,
    `COMMENT ON TABLE ${schema.of('job_ending')} IS 'Holdfast: which job follows on the end of a job; written by runners when they start.'`,
    `COMMENT ON COLUMN ${schema.of('job_ending')}.state IS 'A final state of job: 3 FAILED (refused), 4 DEAD_LETTER, 5 CANCELLED.'`,
    `COMMENT ON COLUMN ${schema.of('job_ending')}.follow_up IS 'The kind of the job that follows.'`,
    ...replacing(cancelJob(schema, { endings: true })),
  ],
};
