import { failureClassOf } from '@holdfast/kernel';
import { requireDelivered, retryAfterMs } from './webhook.reply.js';

function failureOf(status: number, retryAfter?: string): { after?: unknown; class: unknown; code: unknown } {
  try {
    requireDelivered({ retryAfter, status });
  } catch (error) {
    const { after, code } = error as { after?: unknown; code: unknown };
    return { after, class: failureClassOf(error), code };
  }
  return { class: undefined, code: undefined };
}

describe('D7: what a receiver answered', () => {
  it.each([200, 201, 202, 204])('%i is delivered', (status) => {
    expect(() => requireDelivered({ retryAfter: undefined, status })).not.toThrow();
  });

  it.each([408, 425, 429, 500, 502, 503, 504])('%i is tried again', (status) => {
    expect(failureOf(status)).toEqual({ after: undefined, class: 'retryable', code: `webhook.status_${status}` });
  });

  it.each([400, 401, 403, 404, 410, 422])('%i is permanent', (status) => {
    expect(failureOf(status)).toMatchObject({ class: 'permanent', code: `webhook.status_${status}` });
  });

  it('a redirect is not followed: for good it is permanent, for a while it is tried again', () => {
    expect([301, 308].map((status) => failureOf(status).class)).toEqual(['permanent', 'permanent']);
    expect([302, 303, 307].map((status) => failureOf(status).class)).toEqual(['retryable', 'retryable', 'retryable']);
  });

  it('R9: Retry-After decides when', () => {
    expect(failureOf(429, '7').after).toBe('7000ms');
    expect(failureOf(503, '0').after).toBe('0ms');
  });

  it('reads Retry-After in seconds or as a date, within a day', () => {
    const now = Date.parse('2026-11-30T12:00:00Z');
    expect(retryAfterMs('Mon, 30 Nov 2026 12:00:30 GMT', now)).toBe(30_000);
    expect(retryAfterMs('Mon, 30 Nov 2026 11:00:00 GMT', now)).toBe(0);
    expect(retryAfterMs('99999999999999999999', now)).toBe(86_400_000);
    expect(retryAfterMs('soon', now)).toBeUndefined();
    expect(retryAfterMs(undefined, now)).toBeUndefined();
  });
});
