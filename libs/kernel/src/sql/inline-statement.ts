import { escapeLiteral } from 'pg';
import type { BoundStatement } from './statement.js';

/**
 * inlineStatement writes the parameters of a statement into its text as quoted literals.
 *
 * Only so can several statements travel in one round trip on any `pg` client (the simple protocol takes no parameters): the
 * fence with COMMIT, BEGIN with its settings. Values may be strings, numbers, booleans, null and arrays of these; every `$n` of the text
 * carries a cast, so a literal means what the parameter meant. Throws TypeError for any other value.
 */
export function inlineStatement(statement: Pick<BoundStatement<unknown>, 'text' | 'values'>): string {
  return statement.text.replace(/\$(\d+)/g, (_, position: string) => literal(statement.values[Number(position) - 1]));
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value === 'string') return escapeLiteral(value);
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (typeof value === 'number' && Number.isFinite(value)) return escapeLiteral(String(value));
  if (Array.isArray(value)) return `ARRAY[${value.map(literal).join(',')}]`;
  throw new TypeError(`A ${typeof value} cannot be written into a statement.`);
}
