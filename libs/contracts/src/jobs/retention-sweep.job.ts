import { defineJob } from '@holdfast/queue/define';
import { z } from 'zod';

/**
 * RetentionSweep removes a tenant's events that are older than it keeps them.
 *
 * A poller: it begins with the tenant and repeats for ever, one live job for each tenant. Ask for it with `retentionSweep()`.
 */
export const RetentionSweep = defineJob('retention.sweep', {
  payload: z.object({}),
  maxAttempts: 'unlimited',
  timeout: '10s',
});

/** retentionSweep asks for the poller of the tenant whose unit of work it is enqueued in. */
export function retentionSweep() {
  return RetentionSweep.request({}, { dedupeKey: 'sweep' });
}
