import type { Migration } from '@holdfast/kernel';
import { cancelJob, dropCancelJob } from './functions/cancel-job.function.js';
import { enqueueKeyed } from './functions/enqueue-keyed.function.js';
import { intakeRequests } from './functions/intake-requests.function.js';
import { replacing } from './functions/replacing.js';
import { closeFunctions } from './queue.objects.js';

/** What cancelling needs: the requests to those who run a job, in a narrow table of their own (R16, Q16), and the functions that look there. */
export const cancel: Migration = {
  id: '0006-cancel',
  part: 'queue',
  written: '2026-11-30T00:00:05Z',
  down: (schema) => [
    ...replacing([...enqueueKeyed(schema), ...intakeRequests(schema)]),
    ...dropCancelJob(schema),
    `DROP TABLE ${schema.of('job_cancel')}`,
  ],
  up: (schema) => [
    `CREATE TABLE ${schema.of('job_cancel')} (
  job_id bigint NOT NULL,
  asked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT job_cancel_pk PRIMARY KEY (job_id)
) WITH (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0)`,
    `COMMENT ON TABLE ${schema.of('job_cancel')} IS 'Holdfast: running jobs that somebody asked to be cancelled; a row goes when its job has ended.'`,
    ...cancelJob(schema),
    ...replacing([...enqueueKeyed(schema, { cancels: true }), ...intakeRequests(schema, { cancels: true })]),
    ...closeFunctions(schema, ['cancel_job']),
  ],
};
