import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitFor } from '@holdfast/testing';
import type { ReceiverEndpoint } from './receiver.endpoint.js';

/** WebhookReceiver is the other side: an endpoint for each subscription, and it can keep its answers back. */
export class WebhookReceiver {
  /** strays counts what arrived where there is no endpoint. */
  strays = 0;
  private readonly endpoints = new Map<string, ReceiverEndpoint>();
  private kept: (() => void)[] | undefined;
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => {
      // A sender that was killed in mid-request is a broken connection, not an error of ours.
      void this.receive(request, response).catch(() => response.destroy());
    });
  }

  /** distinct is how many delivery ids have arrived. */
  get distinct(): number {
    return this.sum((endpoint) => endpoint.distinct);
  }

  /** duplicates is how many deliveries arrived beyond the first of their id. */
  get duplicates(): number {
    return this.sum((endpoint) => endpoint.duplicates);
  }

  /** add opens an endpoint and answers its URL. */
  add(endpoint: ReceiverEndpoint): string {
    this.endpoints.set(endpoint.path, endpoint);
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${endpoint.path}`;
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

  async start(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
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
    const endpoint = this.endpoints.get(request.url ?? '');
    if (!endpoint) {
      this.strays++;
      return void response.writeHead(404).end();
    }
    const verdict = endpoint.receive(request.headers, Buffer.concat(chunks).toString('utf8'));
    if (verdict === 'refused') return void response.writeHead(401).end();
    if (verdict === 'failed') return void response.writeHead(503, { 'Retry-After': '1' }).end();
    const answer = () => response.writeHead(204).end();
    if (this.kept) this.kept.push(answer);
    else answer();
  }

  private sum(of: (endpoint: ReceiverEndpoint) => number): number {
    return [...this.endpoints.values()].reduce((sum, endpoint) => sum + of(endpoint), 0);
  }
}
