import type { QueueEvent } from '../ports/queue.events.js';

/** LogLevel is how much a line matters. */
export type LogLevel = 'debug' | 'error' | 'info' | 'warn';

/** LinesOf answers for each event what the log says of it; nothing where it says nothing. */
export type LinesOf<E extends QueueEvent> = {
  readonly [T in E['type']]: (
    event: Extract<E, { readonly type: T }>,
  ) => readonly [level: LogLevel, message: string] | undefined;
};

/** counted writes a number with its noun. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
