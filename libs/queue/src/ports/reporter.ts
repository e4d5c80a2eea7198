import type { QueueEvent } from './queue.events.js';

/**
 * Reporter is the port through which producers, a runner and a scheduler say what they do: to a log, to metrics, to a test.
 *
 * It is called in the order of the events, after their writes are durable, and must neither throw nor block; what it throws is swallowed.
 */
export abstract class Reporter {
  abstract report(event: QueueEvent): void;
}
