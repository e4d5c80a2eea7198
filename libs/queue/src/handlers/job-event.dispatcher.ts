import { startTimer } from '@holdfast/kernel';
import type { EventStream } from '../ports/event.stream.js';
import type { ListenerEvent } from '../ports/listener.events.js';
import type { Reporter } from '../ports/reporter.js';
import { EventMailbox, type ListenerEntry } from './event.mailbox.js';

const CLOSE_WITHIN_MS = 2_000;

/** JobEventDispatcher tells the listeners of an application what a runner or a scheduler reports; it knows no Nest. */
export class JobEventDispatcher {
  private readonly entries: ListenerEntry[] = [];
  private readonly mailboxes: EventMailbox[] = [];
  private readonly stops = new Map<EventStream, () => void>();

  /** `reporter` is told what became of listeners. */
  constructor(private readonly reporter: Reporter) {}

  /** close hears nothing more and waits for listeners at work, at most 2 s; what then still waits is forgotten. Idempotent. */
  async close(): Promise<void> {
    for (const stop of this.stops.values()) stop();
    this.stops.clear();
    let late = () => undefined as void;
    const over = new Promise<void>((resolve) => (late = resolve));
    const timer = startTimer(CLOSE_WITHIN_MS, late);
    await Promise.race([Promise.all(this.mailboxes.map(({ idle }) => idle)), over]);
    timer.clear();
    for (const mailbox of this.mailboxes) mailbox.clear();
  }

  /** hear takes the events of a stream, until `close`. Idempotent. */
  hear(stream: EventStream): void {
    if (this.stops.has(stream)) return;
    this.stops.set(
      stream,
      stream.subscribe((event) => this.mailboxes.forEach((mailbox) => mailbox.put(event))),
    );
  }

  /** register adds a listener; the same method of the same instance for the same events is one. */
  register(entry: ListenerEntry): void {
    const same = ({ identity, kind, source, type }: ListenerEntry) =>
      identity === entry.identity && kind === entry.kind && source === entry.source && type === entry.type;
    if (this.entries.some(same)) return;
    this.entries.push(entry);
    this.mailboxes.push(new EventMailbox(entry, (event) => this.tell(event)));
  }

  private tell(event: ListenerEvent): void {
    try {
      this.reporter.report(event);
    } catch {
      // A reporter must not be able to end a mailbox.
    }
  }
}
