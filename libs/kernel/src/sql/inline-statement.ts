import { escapeLiteral } from 'pg';
import type { BoundStatement } from './statement.js';

/**
 * inlineStatement writes the parameters of a statement into its text as quoted literals.
 *
 * Only so can several statements travel in one round trip on any `pg` client (the simple protocol takes no parameters): the
 * fence with COMMIT, BEGIN with its settings. Values may be strings, numbers, booleans, null and arrays of these; every `$n` of the text
 * carries a cast, so a literal means what the parameter meant. Throws TypeError for any other value, for U+0000, which would cut the text off,
 * and for a `$n` without a value.
 */
export function inlineStatement(statement: Pick<BoundStatement<unknown>, 'text' | 'values'>): string {
  return statement.text.replace(/\$(\d+)/g, (parameter, position: string) => {
    const at = Number(position) - 1;
    if (!(at >= 0 && at < statement.values.length)) throw new TypeError(`The statement has no value for ${parameter}.`);
    return literal(statement.values[at]);
  });
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (typeof value === 'number' && Number.isFinite(value)) return escapeLiteral(String(value));
  if (Array.isArray(value)) return `ARRAY[${value.map(literal).join(',')}]`;
  throw new TypeError(`A ${typeof value} cannot be written into a statement.`);
}

function quoted(value: string): string {
  if (value.includes('\0')) throw new TypeError('A text with U+0000 cannot be written into a statement.');
  return escapeLiteral(value);
}
