import type { Migration } from '@holdfast/kernel';
import { dropEnqueue, enqueue, refusedPayload } from './functions/enqueue.function.js';
import { closeFunctions } from './queue.objects.js';

/** The enqueue for SQL: psql, triggers, other languages. */
export const sqlEnqueue: Migration = {
  id: '0004-sql-enqueue',
  part: 'queue',
  written: '2026-11-30T00:00:03Z',
  down: dropEnqueue,
  up: (schema) => [
    ...refusedPayload(schema),
    ...enqueue(schema),
    ...closeFunctions(schema, ['enqueue', 'refused_payload']),
  ],
};
