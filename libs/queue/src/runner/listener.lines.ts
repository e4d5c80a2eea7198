import type { ListenerEvent } from '../ports/listener.events.js';
import { counted, type LinesOf } from './log.line.js';

/** LISTENER_LINES are what the log says of listeners. */
export const LISTENER_LINES: LinesOf<ListenerEvent> = {
  'listener.behind': ({ dropped, listener, waiting }) => [
    'warn',
    waiting > 0
      ? `The listener ${listener} is busy and ${counted(waiting, 'event')} wait: it is not told what comes meanwhile.`
      : `The listener ${listener} has caught up; it was not told ${counted(dropped, 'event')}.`,
  ],
  'listener.failed': ({ event, listener }) => ['error', `The listener ${listener} failed at ${event}.`],
};
