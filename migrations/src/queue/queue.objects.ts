import type { SchemaName } from '@holdfast/kernel';

/** QUEUE_TABLES are the tables of the queue, for privileges; a test compares them with the catalog. */
export const QUEUE_TABLES = [
  'job',
  'job_alias',
  'job_cancel',
  'job_ending',
  'job_hold',
  'job_progress',
  'job_renewal',
  'job_request',
  'job_retention',
  'leader_duty',
  'paused_kind',
  'runner_presence',
] as const;

/** QUEUE_FUNCTIONS are the functions of the queue, for privileges; their names are unique in the schema. */
export const QUEUE_FUNCTIONS = [
  'cancel_job',
  'complete_group',
  'complete_run',
  'delete_jobs',
  'enqueue',
  'enqueue_keyed',
  'intake_requests',
  'refused_payload',
  'repeat_run',
  'requeue_jobs',
  'run_job_now',
] as const;

/** CHECK_FUNCTIONS are what the tables' CHECKs call, on behalf of whoever writes a row: open to everybody, they see nothing but their arguments. */
export const CHECK_FUNCTIONS = ['sound_job', 'sound_job_request'] as const;

/** TRIGGER_FUNCTIONS are what the tables' triggers call: open to everybody, as a trigger asks for no right, and they answer nothing to a caller. */
export const TRIGGER_FUNCTIONS = ['wake_consumers'] as const;

/** closeFunctions takes from everybody the right that PostgreSQL gives everybody: to execute a new function. A migration names those that it made. */
export function closeFunctions(schema: SchemaName, made: readonly (typeof QUEUE_FUNCTIONS)[number][]): string[] {
  return made.map((routine) => `REVOKE ALL ON FUNCTION ${schema.of(routine)} FROM PUBLIC`);
}
