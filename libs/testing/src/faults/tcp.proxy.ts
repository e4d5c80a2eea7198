import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { ProxiedConnection, type ProxyDirection, type ProxyRules } from './proxied.connection.js';

/** ProxyTrigger is a fault that waits for a request: it happens once, when the text passes on its way to the server. */
export interface ProxyTrigger {
  /** act is what happens then, such as `(proxy) => proxy.sever()`. */
  readonly act: (proxy: TcpProxy) => void;
  /** moment says whether the request still reaches the server (`after`, the default) or not (`before`). */
  readonly moment?: 'after' | 'before';
  /** text is looked for in the bytes of the client: `COMMIT`. */
  readonly text: string;
}

/** TcpProxy stands between a client and PostgreSQL and fails as networks do. Connect to its `url`; close it at the end. */
export class TcpProxy {
  private readonly connections = new Set<ProxiedConnection>();
  private readonly rules: ProxyRules = { delayMs: 0, frozen: new Set() };
  private refusing = false;
  private readonly triggers: ProxyTrigger[] = [];

  private constructor(
    private readonly target: URL,
    private readonly server: Server,
  ) {
    server.on('connection', (client) => {
      client.on('error', () => undefined);
      if (this.refusing) return void client.resetAndDestroy();
      const address = { host: this.target.hostname, port: Number(this.target.port || 5432) };
      const connection = new ProxiedConnection(client, address, this.rules, (bytes, pass) => this.request(bytes, pass));
      this.connections.add(connection);
      void connection.closed.then(() => this.connections.delete(connection));
    });
  }

  /** open starts a proxy on a free port in front of the server of a connection string. */
  static async open(target: string): Promise<TcpProxy> {
    const server = createServer({ allowHalfOpen: false });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TcpProxy(new URL(target), server);
  }

  /** connected is how many connections go through it now. */
  get connected(): number {
    return this.connections.size;
  }

  /** url is the connection string of the target with the proxy in its place. */
  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String((this.server.address() as AddressInfo).port);
    return url.toString();
  }

  /** close ends the proxy and every connection through it. */
  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.sever();
    await closed;
  }

  /** delay holds every chunk back for a time, in both directions, until told otherwise. 0 ends it. */
  delay(ms: number): void {
    this.rules.delayMs = ms;
  }

  /**
   * freeze lets nothing more through and closes nothing: what a lost route looks like. Bytes of that time are lost, so connections that
   * lived through it are good for nothing afterwards. `answers` freezes only what comes from the server: a request arrives, its answer is lost.
   */
  freeze(direction: ProxyDirection | 'both' = 'both'): void {
    for (const way of direction === 'both' ? (['answers', 'requests'] as const) : [direction])
      this.rules.frozen.add(way);
  }

  /** pass ends every fault for new connections, and for those that lost nothing. */
  pass(): void {
    this.rules.frozen.clear();
    this.rules.delayMs = 0;
    this.refusing = false;
  }

  /** refuse resets whoever connects from now on. Connections that exist stay. */
  refuse(): void {
    this.refusing = true;
  }

  /** sever resets every connection, on both sides. New ones are accepted. */
  sever(): void {
    for (const connection of this.connections) connection.reset();
  }

  /** when makes a fault wait for a request, such as `{ text: 'COMMIT', act: (proxy) => proxy.freeze('answers') }`. */
  when(trigger: ProxyTrigger): void {
    this.triggers.push(trigger);
  }

  private request(bytes: Buffer, pass: () => void): void {
    const i = this.triggers.findIndex((trigger) => bytes.includes(trigger.text));
    const [trigger] = i < 0 ? [] : this.triggers.splice(i, 1);
    if (trigger?.moment === 'before') trigger.act(this);
    pass();
    if (trigger && trigger.moment !== 'before') trigger.act(this);
  }
}
