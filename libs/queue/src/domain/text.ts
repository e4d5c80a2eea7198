/** U+0000 cannot be stored by PostgreSQL, a lone surrogate cannot be sent as UTF-8. */
const UNSTORABLE = /[\0\p{Surrogate}]/u;
const EVERY_UNSTORABLE = /[\0\p{Surrogate}]/gu;
const REPLACEMENT = '\uFFFD';

/** unstorable answers what keeps a text from being stored as it is, or undefined. */
export function unstorable(text: string): 'U+0000' | 'a lone surrogate' | undefined {
  const found = UNSTORABLE.exec(text);
  if (!found) return undefined;
  return found[0] === '\0' ? 'U+0000' : 'a lone surrogate';
}

/** storableText answers the first `maxLength` characters of a text with what cannot be stored replaced by U+FFFD (K3). */
export function storableText(text: string, maxLength: number): string {
  return text.slice(0, maxLength).replace(EVERY_UNSTORABLE, REPLACEMENT);
}
