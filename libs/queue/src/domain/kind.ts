const KIND = /^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$/;

/** The longest kind, in characters. */
export const MAX_KIND_LENGTH = 100;

/** isKind tells whether a value may name what a job does: lower-case words joined by dots, at most 100 characters, such as `webhook.deliver`. */
export function isKind(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_KIND_LENGTH && KIND.test(value);
}
