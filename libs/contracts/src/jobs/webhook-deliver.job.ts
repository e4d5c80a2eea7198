import { defineJob } from '@holdfast/queue/define';
import { z } from 'zod';

/**
 * WebhookDeliver sends one event to one subscription.
 *
 * Detached: it reaches outside the database, so a receiver may see one delivery twice and tells by its id. The delays reach a day.
 */
export const WebhookDeliver = defineJob('webhook.deliver', {
  payload: z.object({ eventId: z.string(), subscriptionId: z.string() }),
  maxAttempts: 8,
  timeout: '30s',
  backoff: { delays: ['10s', '1m', '10m', '1h', '3h', '6h', '24h'], jitter: 0.1 },
});
