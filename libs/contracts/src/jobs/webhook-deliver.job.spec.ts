import { WebhookDeliver } from './webhook-deliver.job.js';

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

describe('WebhookDeliver', () => {
  it('R9: eight attempts, one delay between each two, which grow and reach a day', () => {
    const { delays } = WebhookDeliver.backoff as { delays: readonly string[] };
    const ms = delays.map((delay) => Number.parseInt(delay, 10) * UNIT_MS[delay.at(-1)!]!);
    expect(WebhookDeliver.maxAttempts).toBe(delays.length + 1);
    expect(ms).toEqual([...ms].sort((a, b) => a - b));
    expect(ms.at(-1)).toBe(86_400_000);
  });
});
