import type { RunnerEvent } from './runner.events.js';
import type { SchedulerEvent } from './scheduler.events.js';

/** QueueEvent is everything that a runner and a scheduler report. */
export type QueueEvent = RunnerEvent | SchedulerEvent;

/** EventOf is the event of a type. */
export type EventOf<T extends QueueEvent['type']> = Extract<QueueEvent, { readonly type: T }>;
