import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { withDeadline } from '@holdfast/kernel';
import { HealthPortError } from '../errors/health-port.error.js';
import type { Readiness } from './readiness.js';

/** HealthServerOptions say where it listens. */
export interface HealthServerOptions {
  readonly host: string;
  /** metrics are served at `/metrics`, from the first moment to the last. Default none, and 404. */
  readonly metrics?: MetricsSource | undefined;
  readonly port: number;
}

/** MetricsSource answers what `/metrics` serves: a registry of prom-client is one. */
export interface MetricsSource {
  readonly contentType: string;
  metrics(): Promise<string>;
}

/** A probe is one short request: a client that takes longer over it is not waited for (K56). */
const REQUEST_WITHIN_MS = 5_000;
/** Node looks every 30 s, as a rule, who has taken too long: for so long a few that ask nothing would keep the probes out. */
const CHECKED_EVERY_MS = 1_000;
const MOST_CONNECTIONS = 100;
/** A scrape waits for 10 s, as a rule; gauges of the application may ask others. */
const METRICS_WITHIN_MS = 8_000;
const PROBES: readonly string[] = ['/health/live', '/health/ready'];

/**
 * HealthServer answers the probes of a process that has no HTTP of its own: `GET /health/live` and `GET /health/ready`, and `GET /metrics` where it has any.
 *
 * It listens before anything else starts and until everything else has ended: live is 200 all that time and asks nobody; ready is 503 with the status
 * `starting` until `serve`, and 503 with `draining` from `drain` on.
 */
export class HealthServer {
  private phase: 'draining' | 'running' | 'starting' = 'starting';
  private ready: (() => Promise<Readiness>) | undefined;

  private constructor(
    private readonly server: Server,
    private readonly metrics: MetricsSource | undefined,
  ) {
    server.on('request', (request, response) => void this.answer(request, response));
  }

  /** open listens. Throws HealthPortError when it cannot. */
  static async open({ host, metrics, port }: HealthServerOptions): Promise<HealthServer> {
    const server = createServer({
      connectionsCheckingInterval: CHECKED_EVERY_MS,
      headersTimeout: REQUEST_WITHIN_MS,
      requestTimeout: REQUEST_WITHIN_MS,
    });
    server.maxConnections = MOST_CONNECTIONS;
    try {
      const listening = once(server, 'listening');
      server.listen(port, host);
      await listening;
    } catch (error) {
      throw new HealthPortError(host, port, error);
    }
    // A socket that cannot be accepted is one probe that fails.
    server.on('error', () => undefined);
    return new HealthServer(server, metrics);
  }

  /** port is where it listens, also where the system chose it. */
  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** close ends it at once, with every connection. Idempotent. */
  async close(): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  /** drain makes ready answer 503: the process is about to end. */
  drain(): void {
    this.phase = 'draining';
  }

  /** serve makes ready answer what `ready` does, which must not reject: 503 for the status `error`, else 200. */
  serve(ready: () => Promise<Readiness>): void {
    this.ready = ready;
    if (this.phase === 'starting') this.phase = 'running';
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.split('?', 1)[0];
    request.resume();
    const { metrics } = this;
    const scraped = path === '/metrics' && metrics !== undefined;
    if (!scraped && !PROBES.includes(path ?? '')) return send(response, 404, { status: 'unknown' });
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      return send(response, 405, { status: 'unknown' });
    }
    if (scraped) return sendMetrics(response, metrics);
    if (path === '/health/live') return send(response, 200, { status: 'ok' });
    if (this.phase !== 'running' || !this.ready) return send(response, 503, { status: this.phase });
    const readiness = await this.ready();
    // Told to stop while the checks went on.
    if (this.isDraining) return send(response, 503, { status: this.phase });
    send(response, readiness.status === 'error' ? 503 : 200, readiness);
  }

  private get isDraining(): boolean {
    return this.phase === 'draining';
  }
}

/** A gauge that fails is a scrape that fails, and no reason to end. */
async function sendMetrics(response: ServerResponse, source: MetricsSource): Promise<void> {
  let text: string;
  try {
    const late = () => new Error(`The metrics took longer than ${METRICS_WITHIN_MS} ms.`);
    text = await withDeadline(source.metrics(), METRICS_WITHIN_MS, late);
  } catch {
    return send(response, 503, { status: 'error' });
  }
  response.writeHead(200, {
    'Cache-Control': 'no-store',
    'Content-Length': Buffer.byteLength(text),
    'Content-Type': source.contentType,
  });
  response.end(text);
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'Cache-Control': 'no-store',
    'Content-Length': Buffer.byteLength(text),
    'Content-Type': 'application/json',
  });
  response.end(text);
}
