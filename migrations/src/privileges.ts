import { SchemaName } from '@holdfast/kernel';
import { QUEUE_FUNCTIONS, QUEUE_TABLES } from './queue/queue.objects.js';

/** Columns that an enqueue without a key fills; the others, such as the state, are not for a producer to choose. */
const ENQUEUED_COLUMNS = ['due_at', 'kind', 'max_attempts', 'payload', 'payload_version', 'priority', 'tenant_id'];

/** Columns of a job and of a request that is none yet which operators see; a payload and the token of a lease are not among them. */
const REQUESTED_COLUMNS = ['created_at', 'dedupe_key', 'due_at', 'id', 'kind', 'max_attempts', 'priority', 'tenant_id'];
const SHOWN_COLUMNS = [
  'attempt',
  'claimed_at',
  'deferred_since',
  'error_code',
  'failures',
  'finished_at',
  'lease_until',
  'outcome',
  'refusal',
  'state',
  'suspect',
  ...REQUESTED_COLUMNS,
];
const PAYLOAD_COLUMNS = ['payload', 'payload_version'];
const OPERATOR_FUNCTIONS = ['cancel_job', 'delete_jobs', 'requeue_jobs', 'run_job_now'] as const;

/**
 * grantsFor answers the statements that let a role enqueue, run and operate, but not migrate: the role of an application with a worker.
 *
 * Run them as the role that migrates, once and after every `migrate up`. They grant nothing outside the schema; to repeat them is harmless.
 */
export function grantsFor(schema: string, role: string): string[] {
  const name = new SchemaName(schema);
  const to = `TO ${quoteRole(role)}`;
  return [
    `GRANT USAGE ON SCHEMA ${name.quoted} ${to}`,
    `GRANT SELECT ON ${name.of('migration')} ${to}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ${QUEUE_TABLES.map((table) => name.of(table)).join(', ')} ${to}`,
    `GRANT USAGE ON SEQUENCE ${name.of('job_id')} ${to}`,
    ...QUEUE_FUNCTIONS.map((routine) => `GRANT EXECUTE ON FUNCTION ${name.of(routine)} ${to}`),
  ];
}

/**
 * enqueueGrantsFor answers the statements that let a role enqueue and nothing else: it reads no payload, changes and deletes no job.
 *
 * With `roles: ['enqueue']` that is all a producer needs, the check of the schema at start included.
 */
export function enqueueGrantsFor(schema: string, role: string): string[] {
  const name = new SchemaName(schema);
  const to = `TO ${quoteRole(role)}`;
  return [
    `GRANT USAGE ON SCHEMA ${name.quoted} ${to}`,
    `GRANT SELECT ON ${name.of('migration')} ${to}`,
    `GRANT INSERT (${ENQUEUED_COLUMNS.join(', ')}), SELECT (id) ON ${name.of('job')} ${to}`,
    `GRANT USAGE ON SEQUENCE ${name.of('job_id')} ${to}`,
    `GRANT EXECUTE ON FUNCTION ${name.of('enqueue')} ${to}`,
    `GRANT EXECUTE ON FUNCTION ${name.of('enqueue_keyed')} ${to}`,
  ];
}

/** OperatorRights are what an operator's role may besides. */
export interface OperatorRights {
  /** payloads lets it read payloads, of every tenant: `Jobs.payload` needs it. Default false. */
  readonly payloads?: boolean;
}

/**
 * operatorGrantsFor answers the statements that let a role look at jobs and operate them, with the verbs of `Jobs` and nothing else: it neither enqueues nor runs,
 * and reads no payload unless that is said (A1).
 *
 * What it changes goes through functions that keep the rules; to write a row by hand it has no right. With `roles: ['enqueue']` that is all such a process
 * needs, the check of the schema at start included.
 */
export function operatorGrantsFor(schema: string, role: string, { payloads = false }: OperatorRights = {}): string[] {
  const name = new SchemaName(schema);
  const to = `TO ${quoteRole(role)}`;
  const payload = payloads ? PAYLOAD_COLUMNS : [];
  const columns = (shown: readonly string[]) => [...shown, ...payload].join(', ');
  return [
    `GRANT USAGE ON SCHEMA ${name.quoted} ${to}`,
    `GRANT SELECT ON ${name.of('migration')}, ${name.of('job_alias')}, ${name.of('job_cancel')}, ${name.of('job_progress')} ${to}`,
    `GRANT SELECT (${columns(SHOWN_COLUMNS)}) ON ${name.of('job')} ${to}`,
    `GRANT SELECT (${columns(REQUESTED_COLUMNS)}) ON ${name.of('job_request')} ${to}`,
    `GRANT SELECT, INSERT (kind), DELETE ON ${name.of('paused_kind')} ${to}`,
    ...OPERATOR_FUNCTIONS.map((routine) => `GRANT EXECUTE ON FUNCTION ${name.of(routine)} ${to}`),
  ];
}

/**
 * sqlEnqueueGrantsFor answers the statements that let a role call the SQL function `enqueue` and nothing else, for psql, triggers and other languages (Q9).
 *
 * Every rule of a request holds for such a role, because it reaches no table.
 */
export function sqlEnqueueGrantsFor(schema: string, role: string): string[] {
  const name = new SchemaName(schema);
  const to = `TO ${quoteRole(role)}`;
  return [`GRANT USAGE ON SCHEMA ${name.quoted} ${to}`, `GRANT EXECUTE ON FUNCTION ${name.of('enqueue')} ${to}`];
}

function quoteRole(role: string): string {
  if (role.length === 0) throw new TypeError('A role has a name.');
  return `"${role.replaceAll('"', '""')}"`;
}
