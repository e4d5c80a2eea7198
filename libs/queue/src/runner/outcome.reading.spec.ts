import { InvalidOutcomeError } from '../errors/invalid-outcome.error.js';
import { done, refuse, repeat } from '../domain/outcome.js';
import { readOutcome } from './outcome.reading.js';

const throwing = () => {
  throw new Error('no');
};
const cycle: Record<string, unknown> = { type: 'done' };
cycle['outcome'] = cycle;

describe('readOutcome', () => {
  it('R11, R12, R13: makes what the outcome functions make into what is stored', () => {
    expect(readOutcome(undefined)).toMatchObject({ completion: { outcome: null, verb: 'complete' } });
    expect(readOutcome(done({ counts: { rows: 2 }, outcome: 'mail.sent' }))).toEqual({
      completion: { outcome: 'mail.sent', verb: 'complete' },
      counts: { rows: 2 },
      type: 'completion',
    });
    expect(readOutcome(repeat('10m'))).toMatchObject({ completion: { delayMs: 600_000, verb: 'repeat' } });
    expect(readOutcome(refuse('mail.closed', { n: 1 }))).toEqual({
      refusal: { code: 'mail.closed', params: { n: 1 }, verb: 'refuse' },
      type: 'refusal',
    });
  });

  it.each([30, 365])('K55: repeat after %d days is taken', (days) => {
    const delayMs = days * 86_400_000;
    expect(readOutcome(repeat(`${days}d`))).toMatchObject({ completion: { delayMs } });
    expect(readOutcome(repeat(`${delayMs}ms`))).toMatchObject({ completion: { delayMs } });
    expect(readOutcome(repeat('0s'))).toMatchObject({ completion: { delayMs: 0 } });
  });

  it.each([5, 0, 1.5, -1, Number.NaN, Infinity, undefined, '5', 'soon', '-1s', ''])(
    'K55: repeat after %p is refused',
    (after) => {
      expect(() => readOutcome(repeat(after as string))).toThrow(InvalidOutcomeError);
    },
  );

  it.each<[string, unknown]>([
    ['a BigInt', 1n],
    ['a Date', new Date(0)],
    ['a Map', new Map()],
    ['a Set', new Set()],
    ['NaN', Number.NaN],
    ['-0', -0],
    ['a Buffer', Buffer.from('x')],
    ['2^53 + 1', 2 ** 53 + 1],
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['null', null],
    ['an array', []],
    ['a class whose toJSON throws', { toJSON: throwing }],
    ['an object whose getter throws', Object.defineProperty({}, 'type', { enumerable: true, get: throwing })],
    ['an object with U+0000 in a value', { type: 'done', outcome: 'a\0' }],
    ['an object with U+0000 in a key', { type: 'done', counts: { 'a\0': 1 } }],
    ['a BigInt as outcome', { type: 'done', outcome: 1n }],
    ['a cycle as outcome', cycle],
    ['a BigInt as count', { type: 'done', counts: { rows: 1n } }],
    ['a text of 300 MB as outcome', { type: 'done', outcome: 'a'.repeat(300_000_000) }],
    ['a BigInt as code', { type: 'refuse', code: 1n }],
    ['U+0000 in a code', { type: 'refuse', code: 'a\0' }],
    ['U+0000 in a param', { type: 'refuse', code: 'a', params: { a: '\0' } }],
    ['U+0000 in the name of a param', { type: 'refuse', code: 'a', params: { 'a\0': 1 } }],
    ['a Date as param', { type: 'refuse', code: 'a', params: { at: new Date(0) } }],
    ['a BigInt as param', { type: 'refuse', code: 'a', params: { n: 1n } }],
    ['a text as params', { type: 'refuse', code: 'a', params: 'text' }],
    ['a number as params', { type: 'refuse', code: 'a', params: 7 }],
    ['a Map as params', { type: 'refuse', code: 'a', params: new Map([['a', 1]]) }],
    ['an array as params', { type: 'refuse', code: 'a', params: [1] }],
  ])('K3, K90, K92: %s is no outcome: the attempt fails, with a short reason', (_, answer) => {
    let thrown: unknown;
    try {
      readOutcome(answer);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(InvalidOutcomeError);
    expect((thrown as Error).message.length).toBeLessThan(500);
  });

  it('R11: an answer that is no outcome is told what a handler answers', () => {
    expect(() => readOutcome('ok')).toThrow(
      'a handler answers nothing, done(), repeat() or refuse(), and this one answered a string',
    );
  });
});
