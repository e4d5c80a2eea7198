import * as fc from 'fast-check';
import { InvalidPayloadError } from '../errors/invalid-payload.error.js';
import { PayloadTooLargeError } from '../errors/payload-too-large.error.js';
import { MAX_PAYLOAD_DEPTH, PayloadWriter } from './payload.writer.js';

const write = (payload: unknown, limit = 10_000) => new PayloadWriter('test.kind', limit).write(payload);

function refusal(payload: unknown): { path: string; reason: string } {
  try {
    write(payload);
  } catch (error) {
    if (error instanceof InvalidPayloadError) return { path: error.path, reason: error.reason };
    throw error;
  }
  throw new Error('It was written.');
}

class Money {
  constructor(readonly cents: number) {}
}

const cycle: Record<string, unknown> = { list: [] };
(cycle['list'] as unknown[]).push({ back: cycle });

function nested(depth: number): object {
  let value: object = {};
  for (let level = 1; level < depth; level += 1) value = { in: value };
  return value;
}

describe('PayloadWriter', () => {
  it('Q2: writes what JSON can say as JSON.stringify would', () => {
    const payload = {
      a: 'ü"\\\n',
      b: [1, -1.5, 1e300, null, true],
      c: { d: false, 'e f': '😀' },
      g: Object.create(null) as object,
      h: undefined,
    };
    expect(write(payload)).toBe(JSON.stringify(payload));
  });

  it('Q2: agrees with JSON.stringify for any JSON, and refuses nothing of it but U+0000 and lone surrogates', () => {
    const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0'));
    const json = fc
      .jsonValue({ maxDepth: 6, noUnicodeString: false })
      .map((value) => JSON.parse(JSON.stringify(value)) as unknown);
    fc.assert(
      fc.property(fc.dictionary(text, json), (payload) => {
        const expected = JSON.stringify(payload);
        if (/\\u0000|\\ud[89a-f]/.test(expected)) expect(() => write(payload, 1e6)).toThrow(InvalidPayloadError);
        else expect(write(payload, 1e6)).toBe(expected);
      }),
    );
  });

  it.each<[string, unknown, string, string]>([
    ['null', null, 'payload', 'null'],
    ['undefined', undefined, 'payload', 'undefined'],
    ['a string', 'x', 'payload', 'a string'],
    ['an array', [1], 'payload', 'an array'],
    ['a Date', { at: new Date() }, 'payload.at', 'a Date'],
    ['a Map', { m: new Map() }, 'payload.m', 'a Map'],
    ['a Set', { s: [new Set()] }, 'payload.s[0]', 'a Set'],
    ['a Buffer', { b: Buffer.from('x') }, 'payload.b', 'a Buffer'],
    ['a typed array', { b: new Uint8Array(2) }, 'payload.b', 'a Uint8Array'],
    ['a class instance', { price: new Money(1) }, 'payload.price', 'a Money'],
    ['a boxed string', { s: Object('x') as unknown }, 'payload.s', 'a String'],
    ['an Error', { e: new Error('x') }, 'payload.e', 'a Error'],
    ['a BigInt', { n: 1n }, 'payload.n', 'a bigint'],
    ['a function', { f: () => 1 }, 'payload.f', 'a function'],
    ['a symbol', { s: Symbol('x') }, 'payload.s', 'a symbol'],
    ['a property named by a symbol', { a: { [Symbol('x')]: 1 } }, 'payload.a', 'named by a symbol'],
    ['undefined in an array', { a: [1, undefined] }, 'payload.a[1]', 'undefined in an array'],
    ['a hole in an array', { a: [1, , 2] }, 'payload.a[1]', 'hole'],
    ['an array with named properties', { a: /x/.exec('x') }, 'payload.a', 'named properties'],
    ['NaN', { n: Number.NaN }, 'payload.n', 'NaN'],
    ['Infinity', { n: { m: Infinity } }, 'payload.n.m', 'Infinity'],
    ['a cycle', cycle, 'payload.list[0].back', 'contains itself'],
    ['toJSON', { t: { toJSON: () => 1 } }, 'payload.t.toJSON', 'a function'],
    ['a promise', { p: Promise.resolve(1) }, 'payload.p', 'a Promise'],
    ['U+0000 in a value', { a: ['x', 'a\0b'] }, 'payload.a[1]', 'U+0000'],
    ['U+0000 in a key', { a: { 'x\0': 1 } }, 'payload.a["x\\u0000"]', 'U+0000'],
    ['a lone high surrogate', { a: 'x\uD83D' }, 'payload.a', 'lone surrogate'],
    ['a lone low surrogate in a key', { '\uDE00x': 1 }, 'payload["\\ude00x"]', 'lone surrogate'],
  ])('Q2, K88, K90: refuses %s and names the place', (_, payload, path, reason) => {
    expect(refusal(payload).path).toBe(path);
    expect(refusal(payload).reason).toContain(reason);
  });

  it('Q2: refuses what throws when it is read, with the place and the cause', () => {
    const cause = new Error('no');
    const getter = {
      a: Object.defineProperty({}, 'x', {
        enumerable: true,
        get: () => {
          throw cause;
        },
      }),
    };
    expect(refusal(getter)).toEqual({ path: 'payload.a.x', reason: 'threw when it was read' });
    const proxy = new Proxy(
      {},
      {
        ownKeys: () => {
          throw cause;
        },
      },
    );
    expect(refusal({ p: proxy }).path).toBe('payload.p');
  });

  it('Q2: never calls toJSON, also one that throws', () => {
    class Sly {
      toJSON(): never {
        throw new Error('called');
      }
    }
    expect(refusal({ a: new Sly() }).reason).toContain('a Sly');
  });

  it('Q2: reads every property once: what was checked is what is written', () => {
    let reads = 0;
    const payload = Object.defineProperty({}, 'x', { enumerable: true, get: () => (reads += 1) });
    expect(write(payload)).toBe('{"x":1}');
    expect(reads).toBe(1);
  });

  it('K90: leaves out properties that are undefined and writes −0 as 0', () => {
    expect(write({ a: undefined, b: -0 })).toBe('{"b":0}');
  });

  it('takes the same object twice where it is no cycle', () => {
    const shared = { a: 1 };
    expect(write({ x: shared, y: [shared, shared] })).toBe('{"x":{"a":1},"y":[{"a":1},{"a":1}]}');
  });

  it('keeps a key named __proto__ as data', () => {
    const payload = JSON.parse('{"__proto__":{"a":1}}') as object;
    expect(write(payload)).toBe('{"__proto__":{"a":1}}');
  });

  it(`Q2: takes ${MAX_PAYLOAD_DEPTH} levels and refuses the next`, () => {
    expect(write(nested(MAX_PAYLOAD_DEPTH))).toContain('in');
    expect(refusal(nested(MAX_PAYLOAD_DEPTH + 1)).reason).toContain('deep');
    expect(refusal(nested(100_000)).reason).toContain('deep');
  });

  it('Q2, K92: counts bytes, not characters, to the exact limit', () => {
    const payload = { a: 'ü'.repeat(100) };
    expect(Buffer.byteLength(write(payload, 208))).toBe(208);
    expect(() => write(payload, 207)).toThrow(PayloadTooLargeError);
  });

  it('K92: does not build what is far over the limit', () => {
    const megabyte = 'x'.repeat(1_000_000);
    const payload = { list: Array.from({ length: 100_000 }, () => megabyte) };
    expect(() => write(payload, 256 * 1024)).toThrow(PayloadTooLargeError);
    let wide: unknown = { a: 1 };
    for (let level = 0; level < 60; level += 1) wide = [wide, wide];
    expect(() => write({ wide }, 256 * 1024)).toThrow(PayloadTooLargeError);
  });

  it('never refuses by its estimate what the exact limit allows', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme-ascii' }), fc.jsonValue({ maxDepth: 4 })), (value) => {
        const text = JSON.stringify(JSON.parse(JSON.stringify(value)));
        if (!/\\u0000|\\ud[89a-f]/.test(text)) expect(write(JSON.parse(text), Buffer.byteLength(text))).toBe(text);
      }),
    );
  });
});
