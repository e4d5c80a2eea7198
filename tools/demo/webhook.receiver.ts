import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitFor } from '@holdfast/testing';

/** A timestamp older than this is a replay. */
const MAX_AGE_S = 300;

/** WebhookReceiver is the other side: it checks signatures, counts deliveries by their id, and can keep its answers back. */
export class WebhookReceiver {
  readonly eventIds = new Set<string>();
  /** refused counts what carried no valid signature. */
  refused = 0;
  private readonly counts = new Map<string, number>();
  private kept: (() => void)[] | undefined;
  private readonly server: Server;

  constructor(private readonly secret: string) {
    this.server = createServer((request, response) => {
      // A sender that was killed in mid-request is a broken connection, not an error of ours.
      void this.receive(request, response).catch(() => response.destroy());
    });
  }

  /** distinct is how many delivery ids have arrived. */
  get distinct(): number {
    return this.counts.size;
  }

  /** duplicates is how many deliveries arrived beyond the first of their id. */
  get duplicates(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count - 1, 0);
  }

  /** keepAnswers keeps every further answer back and resolves when `n` senders wait for theirs. */
  async keepAnswers(n: number, deadlineMs: number): Promise<void> {
    const kept: (() => void)[] = (this.kept = []);
    await waitFor(() => kept.length >= n, { deadlineMs, what: `${n} deliveries in flight` });
  }

  /** letGo gives the answers that were kept back, and answers at once again. */
  letGo(): void {
    const kept = this.kept ?? [];
    this.kept = undefined;
    for (const answer of kept) answer();
  }

  async start(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hook`;
  }

  async stop(): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    const delivery = String(request.headers['x-holdfast-delivery']);
    if (!this.signed(request, delivery, body)) {
      this.refused++;
      return void response.writeHead(401).end();
    }
    this.counts.set(delivery, (this.counts.get(delivery) ?? 0) + 1);
    this.eventIds.add((JSON.parse(body) as { id: string }).id);
    const answer = () => response.writeHead(204).end();
    if (this.kept) this.kept.push(answer);
    else answer();
  }

  private signed(request: IncomingMessage, delivery: string, body: string): boolean {
    const timestamp = String(request.headers['x-holdfast-timestamp']);
    const given = Buffer.from(String(request.headers['x-holdfast-signature']));
    const digest = createHmac('sha256', this.secret).update(`${timestamp}.${delivery}.${body}`).digest('hex');
    const expected = Buffer.from(`sha256=${digest}`);
    const fresh = Math.abs(Date.now() / 1_000 - Number(timestamp)) <= MAX_AGE_S;
    return fresh && given.length === expected.length && timingSafeEqual(given, expected);
  }
}
