import { SchemaName } from '@holdfast/kernel';
import { lockKeyOf, lockObjectOf } from './lock.key.js';

const key = (schema: string, name: string) => lockKeyOf(new SchemaName(schema), name);

describe('the key of a leader', () => {
  it('L1: is a signed integer that stays the same', () => {
    expect(key('holdfast', 'price-feed')).toBe(996_850_839);
    expect(lockObjectOf(996_850_839)).toBe(996_850_839);
    expect(lockObjectOf(-1)).toBe(4_294_967_295);
  });

  it('L1: tells schema and name apart', () => {
    const keys = [key('a', 'b'), key('b', 'a'), key('ab', 'c'), key('a', 'bc'), key('a\nb', 'c'), key('a', 'b c')];
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('L1: is always one that PostgreSQL takes as an integer', () => {
    for (let i = 0; i < 1_000; i++) {
      const half = key('holdfast', `name ${i}`);
      expect(Number.isInteger(half) && half >= -(2 ** 31) && half < 2 ** 31).toBe(true);
    }
  });
});
