/** unended answers a text without the full stop at its end: a message that quotes it has its own. */
export function unended(text: string): string {
  return text.replace(/\.+$/, '');
}
