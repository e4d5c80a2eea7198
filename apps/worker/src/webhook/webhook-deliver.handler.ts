import { WebhookDeliver } from '@holdfast/contracts';
import { PermanentError, UnavailableError } from '@holdfast/kernel';
import {
  done,
  JobHandler,
  refuse,
  type DetachedContext,
  type DetachedHandler,
  type Finished,
  type JobOf,
  type Outcome,
} from '@holdfast/queue';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { WorkerConfiguration } from '../configuration/worker.configuration.js';
import { DeliveryEntity } from '../database/delivery.entity.js';
import { StoredEventEntity } from '../database/stored-event.entity.js';
import { AddressRefusedError } from './address.refused.error.js';
import { requireDelivered } from './webhook.reply.js';
import { WebhookSender, type OutgoingRequest, type WebhookReply } from './webhook.sender.js';
import { signatureOf } from './webhook.signature.js';

/** WebhookDeliverHandler posts an event to the webhook, and records the delivery together with the job's completion. */
@JobHandler(WebhookDeliver, { detached: true })
export class WebhookDeliverHandler implements DetachedHandler<typeof WebhookDeliver> {
  constructor(
    private readonly configuration: WorkerConfiguration,
    @InjectRepository(StoredEventEntity) private readonly events: Repository<StoredEventEntity>,
    private readonly sender: WebhookSender,
  ) {}

  async run(job: JobOf<typeof WebhookDeliver>, ctx: DetachedContext): Promise<Outcome | Finished> {
    const event = await this.events.findOneBy({ id: job.payload.eventId });
    if (!event) return refuse('webhook.event_gone');
    const { status } = await this.post(this.requestFor(job, event, ctx.signal));
    return ctx.finish(async (tx) => {
      const delivery = { attempt: job.attempt, deliveredAt: new Date(), eventId: event.id, jobId: job.id, status };
      await tx.manager.insert(DeliveryEntity, delivery);
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

  private requestFor(
    job: JobOf<typeof WebhookDeliver>,
    event: StoredEventEntity,
    signal: AbortSignal,
  ): OutgoingRequest {
    const target = this.configuration.webhook;
    // Without a webhook here the job waits, as for a receiver that is down, until a worker is given one.
    if (!target)
      throw new UnavailableError('webhook.not_configured', {
        message: 'Set WEBHOOK_URL and WEBHOOK_SECRET on the worker.',
      });
    const { id, payload, receivedAt, repository, type } = event;
    const body = JSON.stringify({ id, payload, receivedAt, repository, type });
    const timestamp = Math.floor(Date.now() / 1_000);
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': 'holdfast',
      'X-Holdfast-Attempt': String(job.attempt),
      'X-Holdfast-Delivery': job.id,
      'X-Holdfast-Event': type,
      'X-Holdfast-Signature': signatureOf({ body, deliveryId: job.id, timestamp }, target.secret),
      'X-Holdfast-Timestamp': String(timestamp),
    };
    return { body, headers, signal, url: target.url };
  }
}
