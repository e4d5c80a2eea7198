import { WebhookDeliver } from '@holdfast/contracts';
import { DeliveryEntity } from '@holdfast/hub';
import { PermanentError, UnavailableError } from '@holdfast/kernel';
import {
  done,
  JobHandler,
  type DetachedContext,
  type DetachedHandler,
  type Finished,
  type JobOf,
  type Outcome,
} from '@holdfast/queue';
import { AddressRefusedError } from './address.refused.error.js';
import { DeliveryLookup, type DueDelivery } from './delivery.lookup.js';
import { requireDelivered } from './webhook.reply.js';
import { WebhookSender, type OutgoingRequest, type WebhookReply } from './webhook.sender.js';
import { signatureOf } from './webhook.signature.js';

/**
 * WebhookDeliverHandler posts an event to one subscription of its tenant, and records the delivery together with the job's completion.
 *
 * It looks before each try: a subscription that was paused or deleted meanwhile gets nothing more, and the job says so.
 */
@JobHandler(WebhookDeliver, { detached: true })
export class WebhookDeliverHandler implements DetachedHandler<typeof WebhookDeliver> {
  constructor(
    private readonly deliveries: DeliveryLookup,
    private readonly sender: WebhookSender,
  ) {}

  async run(job: JobOf<typeof WebhookDeliver>, ctx: DetachedContext): Promise<Outcome | Finished> {
    const { eventId, subscriptionId } = job.payload;
    const due = await this.deliveries.find(job.payload, job.tenantId);
    if (!('event' in due)) return due;
    const { status } = await this.post(requestFor(job, due, ctx.signal));
    return ctx.finish(async (tx) => {
      const delivered = { attempt: job.attempt, deliveredAt: () => 'clock_timestamp()', status };
      await tx.manager.update(DeliveryEntity, { eventId, subscriptionId }, delivered);
      return done({ outcome: 'webhook.delivered' });
    });
  }

  private async post(outgoing: OutgoingRequest): Promise<WebhookReply> {
    const reply = await this.sender.send(outgoing).catch((cause: unknown) => {
      if (cause instanceof AddressRefusedError) throw new PermanentError('webhook.address_refused', { cause });
      if (outgoing.signal.aborted) throw cause;
      throw new UnavailableError('webhook.unreachable', { cause });
    });
    requireDelivered(reply);
    return reply;
  }
}

function requestFor(
  job: JobOf<typeof WebhookDeliver>,
  { event, secrets, url }: DueDelivery,
  signal: AbortSignal,
): OutgoingRequest {
  const { id, payload, receivedAt, repository, type } = event;
  const body = JSON.stringify({ id, payload, receivedAt, repository, type });
  const timestamp = Math.floor(Date.now() / 1_000);
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'holdfast',
    'X-Holdfast-Attempt': String(job.attempt),
    'X-Holdfast-Delivery': job.id,
    'X-Holdfast-Event': type,
    'X-Holdfast-Signature': signatureOf({ body, deliveryId: job.id, timestamp }, secrets),
    'X-Holdfast-Timestamp': String(timestamp),
  };
  return { body, headers, signal, url };
}
