import type { Migration } from '@holdfast/kernel';
import { dropEnqueueKeyed, enqueueKeyed } from './functions/enqueue-keyed.function.js';
import { dropIntakeRequests, intakeRequests } from './functions/intake-requests.function.js';
import { dropSettleRun, settleRun } from './functions/settle-run.functions.js';
import { closeFunctions } from './queue.objects.js';

/** The functions of the queue: what must be one statement of the caller's, and what must not wait for the client between two statements. */
export const jobFunctions: Migration = {
  id: '0002-job-functions',
  part: 'queue',
  written: '2026-11-30T00:00:01Z',
  down: (schema) => [...dropSettleRun(schema), ...dropIntakeRequests(schema), ...dropEnqueueKeyed(schema)],
  up: (schema) => [
    ...enqueueKeyed(schema),
    ...intakeRequests(schema),
    ...settleRun(schema),
    ...closeFunctions(schema, ['complete_run', 'enqueue_keyed', 'intake_requests', 'repeat_run']),
  ],
};
