import { inlineStatement } from './inline-statement.js';

const inline = (text: string, ...values: unknown[]) => inlineStatement({ text, values });

describe('inlineStatement', () => {
  it('writes each kind of value as a literal', () => {
    expect(
      inline('SELECT $1::int, $2::text, $3::bool, $4::bool, $5::text, $6::numeric', 5, 'a', true, false, null, -1.5),
    ).toBe(`SELECT '5'::int, 'a'::text, TRUE::bool, FALSE::bool, NULL::text, '-1.5'::numeric`);
    expect(inline('SELECT $1::text[], $2::text[]', ['a', `b'c`, null], [])).toBe(
      `SELECT ARRAY['a','b''c',NULL]::text[], ARRAY[]::text[]`,
    );
  });

  it('tells $1 from $10 and uses a value as often as it is named', () => {
    const values = Array.from({ length: 10 }, (_, i) => `v${i + 1}`);
    expect(inline('$10 $1 $1', ...values)).toBe(`'v10' 'v1' 'v1'`);
  });

  it('doubles quotes, marks backslashes, and never looks into a value for parameters', () => {
    expect(inline('SELECT $1', `'; DROP TABLE job; --`)).toBe(`SELECT '''; DROP TABLE job; --'`);
    expect(inline('SELECT $1', `\\'; COMMIT; --`)).toBe(`SELECT  E'\\\\''; COMMIT; --'`);
    expect(inline('SELECT $1, $2', '$2', '$1')).toBe(`SELECT '$2', '$1'`);
    expect(inline('SELECT $1', '$&$$1')).toBe(`SELECT '$&$$1'`);
  });

  it.each([{}, 10n, () => 1, Symbol('s'), new Date(0), Number.NaN, Infinity, 'a\0b', ['a\0b'], [{}]])(
    'refuses %p',
    (value) => {
      expect(() => inline('SELECT $1', value)).toThrow(TypeError);
    },
  );

  it('refuses a parameter without a value', () => {
    expect(() => inline('SELECT $2', 'a')).toThrow(TypeError);
    expect(() => inline('SELECT $0', 'a')).toThrow(TypeError);
  });
});
