import { createHmac } from 'node:crypto';

/** SignedDelivery is what the signature of a delivery covers. */
export interface SignedDelivery {
  readonly body: string;
  readonly deliveryId: string;
  /** timestamp is in whole seconds since 1970: a receiver refuses one that is long past, so that a delivery cannot be replayed. */
  readonly timestamp: number;
}

/**
 * signatureOf answers `v1=<hex>`, the HMAC-SHA256 over `<timestamp>.<delivery id>.<body>`, once per secret and joined by commas: while a
 * secret is being exchanged a receiver finds the one that it knows, be it the new or the old.
 */
export function signatureOf(delivery: SignedDelivery, secrets: readonly string[]): string {
  const signed = `${delivery.timestamp}.${delivery.deliveryId}.${delivery.body}`;
  return secrets.map((secret) => `v1=${createHmac('sha256', secret).update(signed).digest('hex')}`).join(',');
}
