import { PermanentError, RetryableError } from '@holdfast/kernel';
import type { WebhookReply } from './webhook.sender.js';

/** A receiver cannot put a delivery off by more than a day at a time. */
const MAX_RETRY_AFTER_MS = 86_400_000;

/** What says "not now": too slow, too early, too many (RFC 9110, 8470, 6585). */
const NOT_NOW: ReadonlySet<number> = new Set([408, 425, 429]);
/** A receiver that has moved for good has to be configured anew; other redirects may be a page that says so for a while. */
const MOVED: ReadonlySet<number> = new Set([301, 308]);

/**
 * requireDelivered returns for 2xx alone.
 *
 * 408, 425, 429, 5xx and temporary redirects throw RetryableError, with the moment of `Retry-After` where there is one;
 * every other answer throws PermanentError (D7).
 */
export function requireDelivered({ retryAfter, status }: WebhookReply): void {
  if (status >= 200 && status < 300) return;
  if (status >= 500 || NOT_NOW.has(status)) throw new RetryableError(`webhook.status_${status}`, afterOf(retryAfter));
  if (status >= 300 && status < 400 && !MOVED.has(status)) throw new RetryableError('webhook.redirected');
  throw new PermanentError(MOVED.has(status) ? 'webhook.moved' : `webhook.status_${status}`);
}

/** retryAfterMs reads `Retry-After`, in seconds or as a date, as milliseconds from `now`, at most a day; undefined for anything else. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const value = header.trim();
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}

function afterOf(retryAfter: string | undefined): { after?: string } {
  const afterMs = retryAfterMs(retryAfter, Date.now());
  return afterMs === undefined ? {} : { after: `${afterMs}ms` };
}
