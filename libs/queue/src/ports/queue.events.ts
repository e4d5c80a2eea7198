import type { ClientEvent } from './client.events.js';
import type { ListenerEvent } from './listener.events.js';
import type { RunnerEvent } from './runner.events.js';
import type { SchedulerEvent } from './scheduler.events.js';

/** QueueEvent is everything that producers, a runner and a scheduler report, and what became of those who listen. */
export type QueueEvent = ClientEvent | ListenerEvent | RunnerEvent | SchedulerEvent;

/** EventOf is the event of a type. */
export type EventOf<T extends QueueEvent['type']> = Extract<QueueEvent, { readonly type: T }>;
