import { outsideTransactions } from '@holdfast/kernel';
import type { ListenerEvent } from '../ports/listener.events.js';
import type { QueueEvent } from '../ports/queue.events.js';

/** The most events that wait for a busy listener. */
const MAX_WAITING = 1_000;

/** ListenerEntry is a method that is called for events, and the place it comes from. */
export interface ListenerEntry {
  /** call calls the method. */
  readonly call: (event: QueueEvent) => unknown;
  /** identity is the instance. */
  readonly identity: unknown;
  /** kind: only events about jobs of this kind; undefined is all. */
  readonly kind: string | undefined;
  /** source names the class, the method and the module for messages. */
  readonly source: string;
  readonly type: QueueEvent['type'];
}

/**
 * EventMailbox tells one listener its events, one after the other and outside the call that reports them: whoever reports neither waits for a listener
 * nor learns of its errors.
 */
export class EventMailbox {
  private dropped = 0;
  private emptied: Promise<void> = Promise.resolve();
  private working = false;
  private waiting: QueueEvent[] = [];

  constructor(
    private readonly entry: ListenerEntry,
    private readonly tell: (event: ListenerEvent) => void,
  ) {}

  /** idle resolves when nothing waits and nothing is at work. */
  get idle(): Promise<void> {
    return this.emptied;
  }

  /** clear forgets what waits. */
  clear(): void {
    this.waiting = [];
  }

  put(event: QueueEvent): void {
    if (!this.wants(event)) return;
    if (this.waiting.length >= MAX_WAITING) return this.drop();
    this.waiting.push(event);
    if (this.working) return;
    this.working = true;
    this.emptied = outsideTransactions(() => this.work());
  }

  private drop(): void {
    this.dropped += 1;
    if (this.dropped === 1) this.tellBehind();
  }

  private tellBehind(): void {
    const { dropped, waiting } = this;
    this.tell({ type: 'listener.behind', dropped, listener: this.entry.source, waiting: waiting.length });
  }

  private wants(event: QueueEvent): boolean {
    const { kind, type } = this.entry;
    return event.type === type && (kind === undefined || ('run' in event && event.run.kind === kind));
  }

  /** work never rejects. It begins in a later turn: the call that reports the event goes on first. */
  private async work(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    for (let event = this.waiting.shift(); event; event = this.waiting.shift()) {
      try {
        await this.entry.call(event);
      } catch (error) {
        this.tell({ type: 'listener.failed', error, event: event.type, listener: this.entry.source });
      }
    }
    this.working = false;
    if (this.dropped === 0) return;
    this.tellBehind();
    this.dropped = 0;
  }
}
