import type { SubscriptionEntity } from '@holdfast/hub';

/** SubscriptionView is a subscription as its tenant sees it; never with its secret. */
export interface SubscriptionView {
  readonly createdAt: string;
  readonly eventTypes: readonly string[];
  readonly id: string;
  readonly pausedAt: string | null;
  /** previousSecretUntil is when the secret of before the last rotation stops signing, or null. */
  readonly previousSecretUntil: string | null;
  readonly url: string;
}

/** NewSecret is a secret, shown this once. */
export interface NewSecret {
  readonly secret: string;
}

/** SHOWN are the columns that are read for a view: the secrets are not among them. */
export const SHOWN = {
  createdAt: true,
  eventTypes: true,
  id: true,
  pausedAt: true,
  previousSecretUntil: true,
  url: true,
} as const;

/** subscriptionView writes a subscription as it is shown. */
export function subscriptionView(subscription: Pick<SubscriptionEntity, keyof typeof SHOWN>): SubscriptionView {
  const { createdAt, eventTypes, id, pausedAt, previousSecretUntil, url } = subscription;
  return {
    id,
    url,
    eventTypes,
    pausedAt: pausedAt?.toISOString() ?? null,
    previousSecretUntil: previousSecretUntil?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  };
}
