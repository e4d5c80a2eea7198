import {
  type BoundStatement,
  channelOf,
  listenAt,
  type SchemaName,
  type Subscription,
  withDeadline,
} from '@holdfast/kernel';
import type { ClientConfig } from 'pg';
import { Waking, type WakingEvents, type WakingVitals } from '../ports/waking.js';
import { DoorKeeper } from './door.keeper.js';

const GOODBYE_WITHIN_MS = 1_000;

/** PostgresWaking hears of commits by LISTEN on the one listening connection of this process, and keeps its doors there (Q10). */
export class PostgresWaking extends Waking {
  private readonly channel: string;
  private events: WakingEvents | undefined;
  private keeper: DoorKeeper | undefined;
  private kinds: readonly string[] = [];
  private readonly nextChannel: string;
  private readonly startedAt = performance.now();
  private subscription: Subscription | undefined;

  /** `config` is asked for each new connection. */
  constructor(
    private readonly config: () => ClientConfig,
    private readonly schema: SchemaName,
  ) {
    super();
    this.channel = channelOf(schema);
    this.nextChannel = channelOf(schema, 'holdfast-next');
  }

  override get connections(): Readonly<Record<string, number>> {
    return { listener: 1 };
  }

  get vitals(): WakingVitals {
    const state = this.subscription?.state;
    if (state?.type === 'listening') return { queueUsage: state.queueUsage, since: state.since, state: 'listening' };
    if (state?.type === 'failing') return { error: state.error, since: state.since, state: 'polling' };
    return { since: state?.since ?? this.startedAt, state: 'starting' };
  }

  idle(kinds: readonly string[]): void {
    if (kinds.length === this.kinds.length && kinds.every((kind) => this.kinds.includes(kind))) return;
    this.kinds = kinds;
    this.keeper?.idle(kinds);
  }

  start(events: WakingEvents): void {
    this.events = events;
    this.subscription ??= listenAt(this.config, [this.channel, this.nextChannel], {
      listening: () => this.listening(),
      lost: (error) => this.lost(error),
      notified: (channel) => (channel === this.channel ? this.events?.wake() : this.keeper?.called()),
    });
  }

  async stop(): Promise<void> {
    const { subscription } = this;
    this.subscription = undefined;
    this.events = undefined;
    // The session may be shared: it lives on, and our doors with it, unless they are left.
    this.kinds = [];
    const late = () => new Error('No answer.');
    const left = withDeadline(this.keeper?.leaveAll() ?? Promise.resolve(), GOODBYE_WITHIN_MS, late);
    await left.catch(() => undefined);
    this.keeper?.end();
    this.keeper = undefined;
    await subscription?.close();
  }

  private listening(): void {
    const { nextChannel, schema, subscription } = this;
    this.keeper?.end();
    if (!subscription) return;
    const send = async <Row>({ text, values }: BoundStatement<Row>) =>
      (await subscription.query<Row>(text, values)).rows;
    this.keeper = new DoorKeeper({ nextChannel, schema, send, wake: () => this.events?.wake() });
    this.events?.listening();
    this.keeper.idle(this.kinds);
    // What was sent before has not been heard (K98).
    this.events?.wake();
  }

  private lost(error: unknown): void {
    this.keeper?.end();
    this.keeper = undefined;
    this.events?.lost(error);
  }
}
