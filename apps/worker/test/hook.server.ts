import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Delivery is one POST that arrived. */
export interface Delivery {
  readonly arrivedAt: number;
  readonly body: string;
  readonly eventId: string;
  readonly headers: IncomingHttpHeaders;
}

/** Reply is what the server answers: a status, a moment for `Retry-After`, and when. */
export interface Reply {
  readonly after?: Promise<unknown>;
  readonly retryAfter?: string;
  readonly status: number;
}

/** HookServer is a receiver that a test tells what to answer. */
export class HookServer {
  connections = 0;
  private readonly deliveries: Delivery[] = [];
  private readonly replies = new Map<string, Reply[]>();
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('error', () => undefined);
      request.once('end', () => {
        const body = Buffer.concat(chunks).toString('utf8');
        const { id } = JSON.parse(body) as { id: string };
        const reply = this.replies.get(id)?.shift() ?? { status: 204 };
        this.deliveries.push({
          arrivedAt: Date.now(),
          body,
          eventId: id,
          headers: request.headers,
        });
        void Promise.resolve(reply.after).then(() => {
          response
            .writeHead(reply.status, reply.retryAfter === undefined ? {} : { 'Retry-After': reply.retryAfter })
            .end();
        });
      });
    });
    this.server.on('connection', () => this.connections++);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hook`;
  }

  /** deliveriesOf answers what arrived of an event, in order. */
  deliveriesOf(eventId: string): Delivery[] {
    return this.deliveries.filter((delivery) => delivery.eventId === eventId);
  }

  /** reply sets what the deliveries of an event are answered, in order; when there is nothing left, 204. */
  reply(eventId: string, ...replies: Reply[]): void {
    this.replies.set(eventId, replies);
  }

  async start(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }
}
