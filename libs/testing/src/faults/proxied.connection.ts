import { connect, type Socket } from 'node:net';

/** ProxyDirection names the bytes of the client (`requests`) or of the server (`answers`). */
export type ProxyDirection = 'answers' | 'requests';

/** ProxyRules are what a proxy does to all its connections now. */
export interface ProxyRules {
  delayMs: number;
  readonly frozen: Set<ProxyDirection>;
}

/** ProxiedConnection is one connection through a TcpProxy: a socket to the client, one to the server. */
export class ProxiedConnection {
  readonly closed: Promise<void>;
  private readonly server: Socket;
  private readonly dueAt = { answers: 0, requests: 0 };
  private readonly timers = new Set<NodeJS.Timeout>();

  constructor(
    private readonly client: Socket,
    address: { readonly host: string; readonly port: number },
    private readonly rules: ProxyRules,
    onRequest: (bytes: Buffer, pass: () => void) => void,
  ) {
    this.server = connect(address);
    this.server.on('error', () => undefined);
    client.on('data', (bytes) => onRequest(bytes, () => this.pass('requests', this.server, bytes)));
    this.server.on('data', (bytes) => this.pass('answers', client, bytes));
    client.on('close', () => this.end(this.server));
    this.server.on('close', () => this.end(client));
    this.closed = Promise.all([client, this.server].map(closing)).then(() => undefined);
  }

  /** reset closes both sides with RST, as a crashed peer does. */
  reset(): void {
    this.clearTimers();
    this.client.resetAndDestroy();
    if (this.server.connecting) this.server.destroy();
    else this.server.resetAndDestroy();
  }

  private clearTimers(): void {
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
  }

  /** What one side closes the other learns of, unless the route to it is lost. */
  private end(other: Socket): void {
    if (this.rules.frozen.has(other === this.server ? 'requests' : 'answers')) return;
    this.clearTimers();
    other.destroy();
  }

  private pass(direction: ProxyDirection, to: Socket, bytes: Buffer): void {
    if (this.rules.frozen.has(direction) || to.destroyed) return;
    // Never before what is still held back in this direction: a delay that shrinks must not reorder bytes.
    const now = performance.now();
    const dueAt = (this.dueAt[direction] = Math.max(now + this.rules.delayMs, this.dueAt[direction]));
    if (dueAt <= now) return void to.write(bytes);
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      if (!to.destroyed && !this.rules.frozen.has(direction)) to.write(bytes);
    }, dueAt - now);
    this.timers.add(timer);
  }
}

/** Not `events.once`: it rejects on an error that comes first, and errors are what this is for. */
function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => void socket.once('close', () => resolve()));
}
