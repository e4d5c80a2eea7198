import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { SampleEvent } from './sample.events.js';

/** A timestamp older than this is a replay. */
const MAX_AGE_S = 300;

/** Verdict is what a delivery is answered with. */
export type Verdict = 'failed' | 'refused' | 'taken';

/** ReceiverEndpoint is where one subscription's deliveries arrive: it knows its own secret and its own tenant's events, and nothing else. */
export class ReceiverEndpoint {
  /** failed counts what was answered 503, because it fails at first. */
  failed = 0;
  /** foreign counts what is none of its tenant's events. */
  foreign = 0;
  /** refused counts what carried no valid signature under its secret. */
  refused = 0;
  secret = '';
  private readonly bodies: ReadonlyMap<string, string>;
  private readonly counts = new Map<string, number>();
  private readonly eventIds = new Set<string>();

  constructor(
    readonly path: string,
    events: readonly SampleEvent[],
    private readonly failures: number,
  ) {
    this.bodies = new Map(events.map(({ id, payload, type }) => [id, JSON.stringify({ payload, type })]));
  }

  /** distinct is how many delivery ids have arrived. */
  get distinct(): number {
    return this.counts.size;
  }

  /** duplicates is how many deliveries arrived beyond the first of their id. */
  get duplicates(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count - 1, 0);
  }

  /** events is how many different events have arrived. */
  get events(): number {
    return this.eventIds.size;
  }

  /** receive judges one delivery and counts it. */
  receive(headers: IncomingHttpHeaders, body: string): Verdict {
    const delivery = String(headers['x-holdfast-delivery']);
    if (!this.signed(headers, delivery, body)) {
      this.refused++;
      return 'refused';
    }
    const { id, payload, type } = JSON.parse(body) as SampleEvent;
    if (this.bodies.get(id) !== JSON.stringify({ payload, type })) this.foreign++;
    if (this.failed < this.failures) {
      this.failed++;
      return 'failed';
    }
    this.counts.set(delivery, (this.counts.get(delivery) ?? 0) + 1);
    this.eventIds.add(id);
    return 'taken';
  }

  private signed(headers: IncomingHttpHeaders, delivery: string, body: string): boolean {
    const timestamp = String(headers['x-holdfast-timestamp']);
    const digest = createHmac('sha256', this.secret).update(`${timestamp}.${delivery}.${body}`).digest('hex');
    const expected = Buffer.from(`v1=${digest}`);
    const fresh = Math.abs(Date.now() / 1_000 - Number(timestamp)) <= MAX_AGE_S;
    return fresh && signaturesIn(headers).some((given) => same(Buffer.from(given), expected));
  }
}

function same(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function signaturesIn(headers: IncomingHttpHeaders): string[] {
  return String(headers['x-holdfast-signature']).split(',');
}
