import { patternsOf } from '@holdfast/contracts';
import { EventEntity } from '@holdfast/hub';
import { refuse, UnitOfWork, type Outcome } from '@holdfast/queue';
import { Injectable } from '@nestjs/common';

/** DueDelivery is what has to be sent, where to, and what signs it. */
export interface DueDelivery {
  readonly event: EventEntity;
  /** secrets are the subscription's, and for a while after an exchange the one before it too. */
  readonly secrets: readonly string[];
  readonly url: URL;
}

/** DeliveryName names a delivery within its tenant, as the job's payload does. */
export interface DeliveryName {
  readonly eventId: string;
  readonly subscriptionId: string;
}

interface SubscriptionRow {
  readonly event_types: readonly string[];
  readonly paused_at: Date | null;
  readonly previous_secret: string | null;
  readonly secret: string;
  readonly url: string;
}

/** Whether the secret before this one still signs is decided by the database's clock. */
const SUBSCRIPTION = `
  SELECT url, event_types, secret, paused_at,
    CASE WHEN previous_secret_until > clock_timestamp() THEN previous_secret END AS previous_secret
  FROM subscription WHERE id = $1`;

/** DeliveryLookup reads what a delivery needs under its tenant's scope: what belongs to another tenant is not there. */
@Injectable()
export class DeliveryLookup {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /**
   * find answers what is to be sent, or why it is not any more: a refusal with the code `webhook.event_gone`, `webhook.subscription_gone`,
   * `webhook.subscription_paused` (with the moment) or `webhook.type_not_taken` (R12).
   */
  find({ eventId, subscriptionId }: DeliveryName, tenantId: string | null): Promise<DueDelivery | Outcome> {
    return this.unitOfWork.run(
      async (tx) => {
        const event = await tx.manager.findOneBy(EventEntity, { id: eventId });
        if (!event) return refuse('webhook.event_gone');
        const [subscription] = (await tx.sql.query<SubscriptionRow>(SUBSCRIPTION, [subscriptionId])).rows;
        return subscription ? dueOf(event, subscription) : refuse('webhook.subscription_gone');
      },
      { readOnly: true, tenantId },
    );
  }
}

function dueOf(event: EventEntity, subscription: SubscriptionRow): DueDelivery | Outcome {
  const { event_types, paused_at, previous_secret, secret, url } = subscription;
  if (paused_at) return refuse('webhook.subscription_paused', { pausedAt: paused_at.toISOString() });
  if (!patternsOf(event.type).some((pattern) => event_types.includes(pattern)))
    return refuse('webhook.type_not_taken', { type: event.type });
  return { event, secrets: previous_secret === null ? [secret] : [secret, previous_secret], url: new URL(url) };
}
