import type { ClientEvent } from '../ports/client.events.js';
import type { LinesOf } from './log.line.js';

/** CLIENT_LINES: nothing is written per enqueue; who wants it listens (M5). */
export const CLIENT_LINES: LinesOf<ClientEvent> = { 'job.enqueued': () => undefined };
