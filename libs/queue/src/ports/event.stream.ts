import { startTimer } from '@holdfast/kernel';
import type { EventOf, QueueEvent } from './queue.events.js';
import { Reporter } from './reporter.js';

const DEFAULT_PATIENCE_MS = 10_000;

/** NextOptions narrow down which event is awaited, and for how long. */
export interface NextOptions<E> {
  readonly where?: (event: E) => boolean;
  /** withinMs is how long to wait. Default 10 000. */
  readonly withinMs?: number;
}

/** EventStream hands every event on to whoever listens, in order: so a test or a program awaits what happens and need not sleep. */
export class EventStream extends Reporter {
  private readonly listeners = new Set<(event: QueueEvent) => void>();

  /** next answers the next event of a type; call it before the cause. Rejects when none comes in time. */
  next<T extends QueueEvent['type']>(type: T, options: NextOptions<EventOf<T>> = {}): Promise<EventOf<T>> {
    const withinMs = options.withinMs ?? DEFAULT_PATIENCE_MS;
    return new Promise((resolve, reject) => {
      const timer = startTimer(withinMs, () => {
        stop();
        reject(new Error(`No ${type} came within ${withinMs} ms.`));
      });
      const stop = this.subscribe((event) => {
        if (event.type !== type) return;
        const found = event as EventOf<T>;
        if (options.where && !options.where(found)) return;
        timer.clear();
        stop();
        resolve(found);
      });
    });
  }

  override report(event: QueueEvent): void {
    for (const listener of this.listeners) {
      try {
        listener(event);
      } catch {
        // A listener must not be able to change what the runner does.
      }
    }
  }

  /** subscribe calls `listener` for every event until the function it answers is called. */
  subscribe(listener: (event: QueueEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
