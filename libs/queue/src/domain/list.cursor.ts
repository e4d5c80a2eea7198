import { InvalidFilterError } from '../errors/invalid-filter.error.js';
import { MAX_KIND_LENGTH } from './kind.js';

/** ListSection is a part of a list that one index orders: those that run, those that wait, suspects, and each final state. */
export type ListSection = 'running' | 'pending' | 'suspect' | 'dead' | 'failed' | 'cancelled' | 'succeeded';

/** ListPlace is a place in a list: a section, and the key behind which it goes on; undefined is its beginning. */
export interface ListPlace {
  readonly key: readonly string[] | undefined;
  readonly section: ListSection;
}

/** KeyPart is what a part of a key is: nothing else goes from a cursor to the database. */
export type KeyPart = 'kind' | 'moment' | 'number';

const NUMBER = /^-?\d{1,19}$/;
/** Moments are counted in microseconds since 1970; some 3 000 years before, and 12 000 after: PostgreSQL takes them, and no job is due outside of them. */
export const FIRST_MOMENT = -100_000_000_000_000_000n;
export const LAST_MOMENT = 400_000_000_000_000_000n;
export const LAST_ID = 2n ** 63n - 1n;
const MAX_LENGTH = 1_000;

/** encodeCursor writes a place as a text that says nothing to people. */
export function encodeCursor({ key, section }: ListPlace): string {
  return Buffer.from(JSON.stringify([section, ...(key ?? [])])).toString('base64url');
}

/** decodeCursor reads a place among the sections of this list. Throws InvalidFilterError for anything else. */
export function decodeCursor(
  cursor: unknown,
  sections: readonly ListSection[],
  shapeOf: (section: ListSection) => readonly KeyPart[],
): ListPlace {
  const refused = () =>
    new InvalidFilterError(
      'cursor',
      'is none of this list: give the one that its last page answered, with the same filter',
    );
  if (typeof cursor !== 'string' || cursor.length > MAX_LENGTH) throw refused();
  const parts = parsed(Buffer.from(cursor, 'base64url').toString());
  const section = sections.find((one) => one === parts[0]);
  const key = parts.slice(1);
  if (section === undefined || !key.every((part): part is string => typeof part === 'string')) throw refused();
  const shape = shapeOf(section);
  if (key.length > 0 && !(key.length === shape.length && key.every((part, at) => isPart(shape[at]!, part))))
    throw refused();
  return { key: key.length === 0 ? undefined : key, section };
}

function isPart(what: KeyPart, part: string): boolean {
  if (what === 'kind') return part.length > 0 && part.length <= MAX_KIND_LENGTH && !part.includes('\0');
  if (!NUMBER.test(part)) return false;
  const [least, most] = what === 'moment' ? [FIRST_MOMENT, LAST_MOMENT] : [0n, LAST_ID];
  return BigInt(part) >= least && BigInt(part) <= most;
}

function parsed(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
