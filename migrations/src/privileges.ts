import { SchemaName } from '@holdfast/kernel';
import { QUEUE_FUNCTIONS, QUEUE_TABLES } from './queue/queue.objects.js';

/** Columns that an enqueue without a key fills; the others, such as the state, are not for a producer to choose. */
const ENQUEUED_COLUMNS = ['due_at', 'kind', 'max_attempts', 'payload', 'payload_version', 'priority', 'tenant_id'];

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
