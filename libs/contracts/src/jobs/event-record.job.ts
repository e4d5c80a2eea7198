import { defineJob } from '@holdfast/queue/define';
import { z } from 'zod';

/**
 * EventRecord counts one event in the statistics of its repository.
 *
 * Attached: the count and the job's completion commit together, so that each event is counted exactly once.
 */
export const EventRecord = defineJob('event.record', {
  payload: z.object({
    eventId: z.string(),
    /** receivedAt is an ISO 8601 moment. */
    receivedAt: z.string(),
    repository: z.string(),
    type: z.string(),
  }),
  maxAttempts: 8,
  timeout: '10s',
  backoff: { base: '1s', factor: 2, max: '10m' },
});
