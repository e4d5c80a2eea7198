import { EVENT_TYPE } from './event.format.js';

/** ANY_EVENT is the pattern that every event matches. */
export const ANY_EVENT = '*';

const BEGINNING = '.*';

/** isEventPattern tells whether a text says which events are wanted: a type such as `issues.opened`, a beginning such as `issues.*`, or `*`. */
export function isEventPattern(text: string): boolean {
  if (text === ANY_EVENT) return true;
  return EVENT_TYPE.test(text.endsWith(BEGINNING) ? text.slice(0, -BEGINNING.length) : text);
}

/** patternsOf answers every pattern that an event of a type matches. `issues.*` is matched by `issues.opened` and `issues.a.b`, and not by `issues`. */
export function patternsOf(type: string): string[] {
  const words = type.split('.');
  const beginnings = words.slice(1).map((_, at) => `${words.slice(0, at + 1).join('.')}${BEGINNING}`);
  return [ANY_EVENT, ...beginnings, type];
}
