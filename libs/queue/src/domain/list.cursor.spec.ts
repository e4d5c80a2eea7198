import { InvalidFilterError } from '../errors/invalid-filter.error.js';
import { decodeCursor, encodeCursor, type KeyPart, type ListPlace } from './list.cursor.js';

const shape = (): KeyPart[] => ['kind', 'moment', 'number'];
const decode = (cursor: unknown) => decodeCursor(cursor, ['pending', 'dead'], shape);
const written = (parts: unknown) => Buffer.from(JSON.stringify(parts)).toString('base64url');

describe('the cursor of a list', () => {
  it.each<ListPlace>([
    { key: undefined, section: 'dead' },
    { key: ['mail.send', '1764547200000000', '9223372036854775807'], section: 'pending' },
    { key: ['ü'.repeat(100), '-100000000000000000', '0'], section: 'pending' },
  ])('A1: is read as it was written, and says nothing to people: %j', (place) => {
    const cursor = encodeCursor(place);
    expect(cursor).toMatch(/^[\w-]+$/);
    expect(decode(cursor)).toEqual(place);
  });

  it.each([
    undefined,
    7,
    '',
    'garbage',
    'x'.repeat(2_000),
    written({}),
    written(['failed']),
    written(['dead', 'mail.send']),
    written(['dead', '', '1', '1']),
    written(['dead', 'a\0', '1', '1']),
    written(['dead', 'a'.repeat(101), '1', '1']),
    written(['dead', 'mail.send', '1', 1]),
    written(['dead', 'mail.send', '1', '-1']),
    written(['dead', 'mail.send', '1e3', '1']),
    written(['dead', 'mail.send', '400000000000000001', '1']),
    written(['dead', 'mail.send', '1', '9223372036854775808']),
  ])('A1: lets nothing else through: %s', (cursor) => {
    expect(() => decode(cursor)).toThrow(InvalidFilterError);
  });
});
