import { createHmac } from 'node:crypto';

/** SignedDelivery is what the signature of a delivery covers. */
export interface SignedDelivery {
  readonly body: string;
  readonly deliveryId: string;
  /** timestamp is in whole seconds since 1970: a receiver refuses one that is long past, so that a delivery cannot be replayed. */
  readonly timestamp: number;
}

/** signatureOf answers `sha256=<hex>`: the HMAC-SHA256 over `<timestamp>.<delivery id>.<body>`. */
export function signatureOf(delivery: SignedDelivery, secret: string): string {
  const signed = `${delivery.timestamp}.${delivery.deliveryId}.${delivery.body}`;
  return `sha256=${createHmac('sha256', secret).update(signed).digest('hex')}`;
}
