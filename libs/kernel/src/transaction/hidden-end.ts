const ENDS = /;[^]*?\b(?:commit|end|abort|rollback|prepare\s+transaction)\b/i;
/** What a keyword may stand in without being one: texts, names, bodies of functions, comments. */
const QUOTED = /\$([a-z_]\w*)?\$[^]*?\$\1\$|'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*/gi;
/** Where quoting cannot be told by an expression: escapes, comments in comments. */
const UNCLEAR = /\\'|\/\*/;

/**
 * hidesEnd tells whether a text of several statements may end the transaction behind the first of them.
 *
 * It says so too often rather than too seldom: for CASE … END behind a semicolon, for one.
 */
export function hidesEnd(text: string): boolean {
  if (!text.includes(';') || !ENDS.test(text)) return false;
  return UNCLEAR.test(text) || ENDS.test(text.replace(QUOTED, ' '));
}
