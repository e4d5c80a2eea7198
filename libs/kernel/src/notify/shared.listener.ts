import type { ClientConfig } from 'pg';
import { ConnectionLostError } from '../errors/connection-lost.error.js';
import type { SqlResult } from '../sql/sql-executor.js';
import { pause } from '../time/deadline.js';
import type { ListenerState, ListenerSubscriber, ListenerTimings } from './listener.ports.js';
import { ListenerSession } from './listener.session.js';
import { ReconnectPace } from './reconnect.pace.js';

/** Listening is what one subscriber wants to hear. */
export interface Listening {
  readonly channels: readonly string[];
  readonly subscriber: ListenerSubscriber;
}

/**
 * SharedListener keeps one connection that listens for everybody in this process who wants to hear of one database (Q10, R19).
 *
 * A session proves itself when it is opened and by a ping ever after; one that is lost is replaced, after a wait that grows with every failure and
 * begins anew when a session has stood for a while. After every opening each subscriber is told to look: what was sent meanwhile is lost (K98).
 */
export class SharedListener {
  private readonly closing = new AbortController();
  private readonly listenings = new Set<Listening>();
  private loop: Promise<void> | undefined;
  private session: ListenerSession | undefined;
  private stateNow: ListenerState = { since: performance.now(), type: 'starting' };

  /** `config` may be a function; it is asked for each new connection. */
  constructor(
    private readonly config: () => ClientConfig,
    private readonly timings: ListenerTimings,
  ) {}

  get state(): ListenerState {
    return this.stateNow;
  }

  /** add begins to listen for a subscriber; the first one opens the connection. */
  add(listening: Listening): void {
    this.listenings.add(listening);
    this.loop ??= this.run();
    const { session } = this;
    if (session) void this.begin(session, listening);
  }

  /** close says goodbye; about two seconds at most, when nobody answers. It never rejects. */
  async close(): Promise<void> {
    this.closing.abort();
    const { session } = this;
    this.session = undefined;
    this.stateNow = { since: performance.now(), type: 'closed' };
    await session?.close();
    await this.loop;
  }

  /** query sends one statement on the session that listens: for locks that are to live as long as it does. Rejects where there is none. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<SqlResult<Row>> {
    if (!this.session) return Promise.reject(new ConnectionLostError('use the listener', new Error('There is none.')));
    return this.session.run<Row>(text, values);
  }

  /** remove ends what `add` began. Channels that nobody wants any more are left when the session comes to it. */
  remove(listening: Listening): void {
    if (!this.listenings.delete(listening)) return;
    for (const channel of listening.channels) {
      if (![...this.listenings].some(({ channels }) => channels.includes(channel)))
        void this.session?.unlisten(channel).catch(() => undefined);
    }
  }

  private async begin(session: ListenerSession, { channels, subscriber }: Listening): Promise<void> {
    try {
      for (const channel of channels) await session.listen(channel);
    } catch (error) {
      // Whatever it was: a session that does not listen to everything is none.
      session.destroy(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    tell(() => subscriber.listening());
  }

  private notified(channel: string): void {
    for (const { channels, subscriber } of this.listenings)
      if (channels.includes(channel)) tell(() => subscriber.notified(channel));
  }

  private async ping(session: ListenerSession): Promise<void> {
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, this.closing.signal]);
    void session.lost.then(() => over.abort());
    while (!signal.aborted) {
      // An error of the server is an answer too; a session that gives none is destroyed by its deadline.
      const queueUsage = await session.ping().catch(() => undefined);
      if (this.stateNow.type === 'listening')
        this.stateNow = { ...this.stateNow, ...(queueUsage !== undefined && { queueUsage }) };
      await pause(this.timings.pingEveryMs, signal);
    }
  }

  private async run(): Promise<void> {
    const { signal } = this.closing;
    const pace = new ReconnectPace(this.timings);
    while (!signal.aborted) {
      const error = await this.serve();
      if (signal.aborted) return;
      const now = performance.now();
      const stoodMs = this.stateNow.type === 'listening' ? now - this.stateNow.since : 0;
      this.turn({ error, since: now, type: 'failing' });
      await pause(pace.afterMs(stoodMs), signal);
    }
  }

  /** serve lives as long as one session does, and answers why it ended. */
  private async serve(): Promise<unknown> {
    const { signal } = this.closing;
    let session: ListenerSession;
    try {
      session = await ListenerSession.open(this.config(), this.timings, signal, (channel) => this.notified(channel));
    } catch (error) {
      return error;
    }
    if (signal.aborted) return session.close();
    this.session = session;
    this.stateNow = { since: performance.now(), type: 'listening' };
    for (const listening of this.listenings) void this.begin(session, listening);
    await this.ping(session);
    this.session = undefined;
    return session.failure;
  }

  /** The moment and the subscribers are told of the first failure only; the last error is the one to show. */
  private turn(next: Extract<ListenerState, { type: 'failing' }>): void {
    const { since, type } = this.stateNow;
    this.stateNow = type === 'failing' ? { ...next, since } : next;
    if (type !== 'failing') for (const { subscriber } of this.listenings) tell(() => subscriber.lost(next.error));
  }
}

function tell(what: () => void): void {
  try {
    what();
  } catch {
    // A subscriber must not be able to end the listener of the others.
  }
}
