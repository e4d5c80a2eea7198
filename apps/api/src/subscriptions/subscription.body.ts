import { isEventPattern } from '@holdfast/contracts';
import { parseDuration } from '@holdfast/kernel';
import { z } from 'zod';

const MAX_URL = 2_000;
const MAX_TYPES = 50;
const OVERLAP = '24h';
const MAX_OVERLAP_MS = 7 * 86_400_000;
const HTTP_URL = 'expected an http:// or https:// URL without a user or password, of at most 2000 characters';

const url = z
  .string('expected a string')
  .refine(isPlainHttpUrl, HTTP_URL)
  .transform((text) => new URL(text).href);

const eventTypes = z
  .array(
    z
      .string('expected a string')
      .max(100, 'expected at most 100 characters')
      .refine(isEventPattern, 'expected a type such as issues.opened, a beginning such as issues.*, or *'),
    'expected a list of event types',
  )
  .min(1, 'expected at least one event type')
  .max(MAX_TYPES, `expected at most ${MAX_TYPES} event types`)
  .transform((types) => [...new Set(types)]);

const secret = z
  .string('expected a string')
  .regex(/^[\x21-\x7e]{16,200}$/, 'expected 16 to 200 printable characters without spaces');

/** subscriptionBody is the body of `POST /subscriptions`. */
export const subscriptionBody = z.strictObject({
  eventTypes,
  /** secret signs the deliveries. Left out, one is generated and answered this once. */
  secret: secret.optional(),
  url,
});

/** subscriptionChange is the body of `PATCH /subscriptions/:id`. */
export const subscriptionChange = z
  .strictObject({
    eventTypes: eventTypes.optional(),
    /** paused: true makes new events lead to no delivery, and refuses those that wait. */
    paused: z.boolean('expected true or false').optional(),
    url: url.optional(),
  })
  .refine((change) => Object.keys(change).length > 0, 'expected url, eventTypes or paused');

/** secretBody is the body of `POST /subscriptions/:id/secret`; it may be left out. */
export const secretBody = z
  .strictObject({
    /** overlap is how long the secret before signs as well. Default 24h, at most 7d; 0s ends it at once. */
    overlap: z
      .string('expected a duration such as 24h')
      .refine(
        (text) => (overlapMs(text) ?? Infinity) <= MAX_OVERLAP_MS,
        'expected a duration from 0s to 7d, such as 24h',
      )
      .default(OVERLAP)
      .transform((text) => overlapMs(text) ?? 0),
    secret: secret.optional(),
  })
  .default(() => ({ overlap: overlapMs(OVERLAP) ?? 0 }));

/** SubscriptionBody is a valid body of `POST /subscriptions`. */
export type SubscriptionBody = z.output<typeof subscriptionBody>;

/** SubscriptionChange is a valid body of `PATCH /subscriptions/:id`. */
export type SubscriptionChange = z.output<typeof subscriptionChange>;

/** SecretBody is a valid body of `POST /subscriptions/:id/secret`; `overlap` is in milliseconds. */
export type SecretBody = z.output<typeof secretBody>;

function isPlainHttpUrl(text: string): boolean {
  if (text.length > MAX_URL || !URL.canParse(text)) return false;
  const { href, password, protocol, username } = new URL(text);
  return ['http:', 'https:'].includes(protocol) && username === '' && password === '' && href.length <= MAX_URL;
}

function overlapMs(text: string): number | undefined {
  if (text === '0s') return 0;
  try {
    return parseDuration(text);
  } catch {
    return undefined;
  }
}
