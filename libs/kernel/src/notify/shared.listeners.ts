import { Client, type ClientConfig } from 'pg';
import type { SqlResult } from '../sql/sql-executor.js';
import {
  LISTENER_TIMINGS,
  type ListenerState,
  type ListenerSubscriber,
  type ListenerTimings,
} from './listener.ports.js';
import { SharedListener } from './shared.listener.js';

/** Subscription is a subscriber's place at a listener. */
export interface Subscription {
  readonly state: ListenerState;
  /** close ends it; the last one at a database closes the connection. Idempotent; it never rejects. */
  close(): Promise<void>;
  /** query sends one statement on the session that listens, such as a lock that is to live as long as it does. Rejects where there is none. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<SqlResult<Row>>;
}

interface Shared {
  readonly listener: SharedListener;
  users: number;
}

/** The listeners of this process: one for each address, database and user. */
const listeners = new Map<string, Shared>();

/**
 * listenAt hears notifications on the one connection that this process has for them at that database (Q10, R19).
 *
 * `config` is asked for each new connection. Whoever comes second shares the timings of the first.
 */
export function listenAt(
  config: () => ClientConfig,
  channels: readonly string[],
  subscriber: ListenerSubscriber,
  timings: Partial<ListenerTimings> = {},
): Subscription {
  const key = keyOf(config());
  const shared = listeners.get(key) ?? {
    listener: new SharedListener(config, { ...LISTENER_TIMINGS, ...timings }),
    users: 0,
  };
  shared.users += 1;
  listeners.set(key, shared);
  const { listener } = shared;
  const listening = { channels, subscriber };
  listener.add(listening);
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    shared.users -= 1;
    listener.remove(listening);
    if (shared.users > 0) return;
    listeners.delete(key);
    await listener.close();
  };
  return {
    get state() {
      return listener.state;
    },
    close: () => (closing ??= close()),
    query: (text, values) => listener.query(text, values),
  };
}

/** A client that is never connected reads what a URL, an object and the environment say. */
function keyOf(config: ClientConfig): string {
  const { database, host, port, user } = new Client(config) as ClientConfig;
  return JSON.stringify([host, port, database, user]);
}
