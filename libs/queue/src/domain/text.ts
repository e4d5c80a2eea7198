/** U+0000 cannot be stored by PostgreSQL, a lone surrogate cannot be sent as UTF-8. */
const EVERY_UNSTORABLE = /[\0\p{Surrogate}]/gu;
const REPLACEMENT = '\uFFFD';

/** What Node 20 has and the library's ES2023 does not declare; a regular expression takes twenty times as long. */
interface WellFormed {
  isWellFormed(): boolean;
}

/** unstorable answers what keeps a text from being stored as it is, or undefined. */
export function unstorable(text: string): 'U+0000' | 'a lone surrogate' | undefined {
  if (text.includes('\0')) return 'U+0000';
  return (text as unknown as WellFormed).isWellFormed() ? undefined : 'a lone surrogate';
}

/** storableText answers the first `maxLength` characters of a text with what cannot be stored replaced by U+FFFD (K3). */
export function storableText(text: string, maxLength: number): string {
  return text.slice(0, maxLength).replace(EVERY_UNSTORABLE, REPLACEMENT);
}

/** optionText writes a value that an option was given, for its message; a text is quoted: '20' is no number, though it looks like one. */
export function optionText(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

const MAX_QUOTED_LENGTH = 120;

/** quoted names a value in a message, whatever it is: the beginning of a text, the type of anything else. */
export function quoted(value: unknown): string {
  if (typeof value !== 'string') return `a ${value === null ? 'null' : typeof value}`;
  return JSON.stringify(value.length > MAX_QUOTED_LENGTH ? `${value.slice(0, MAX_QUOTED_LENGTH)}…` : value);
}
