import type { Migration } from '@holdfast/kernel';
import { deleteJobs, dropDeleteJobs } from './functions/delete-jobs.function.js';
import { dropRequeueJobs, requeueJobs } from './functions/requeue-jobs.function.js';
import { dropRunJobNow, runJobNow } from './functions/run-job-now.function.js';
import { closeFunctions } from './queue.objects.js';

/** What operators' verbs need: kinds that are paused, and the writes that they make of jobs (A1). */
export const operators: Migration = {
  id: '0007-operators',
  part: 'queue',
  written: '2026-11-30T00:00:06Z',
  down: (schema) => [
    ...dropDeleteJobs(schema),
    ...dropRunJobNow(schema),
    ...dropRequeueJobs(schema),
    `DROP TABLE ${schema.of('paused_kind')}`,
  ],
  up: (schema) => [
    `CREATE TABLE ${schema.of('paused_kind')} (
  kind text COLLATE "C" NOT NULL,
  paused_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT paused_kind_pk PRIMARY KEY (kind),
  CONSTRAINT paused_kind_length CHECK (length(kind) BETWEEN 1 AND 100)
) WITH (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0)`,
    `COMMENT ON TABLE ${schema.of('paused_kind')} IS 'Holdfast: kinds of which no process claims a job; read at every poll.'`,
    ...requeueJobs(schema),
    ...runJobNow(schema),
    ...deleteJobs(schema),
    ...closeFunctions(schema, ['delete_jobs', 'requeue_jobs', 'run_job_now']),
  ],
};
