import { InvalidOutcomeError } from '../errors/invalid-outcome.error.js';
import { done, refuse, repeat } from './outcome.js';
import { checkRefusalParams, type RefusalParams } from './refusal.js';

describe('outcomes', () => {
  it('R13: carry codes and numbers', () => {
    expect(done()).toEqual({ type: 'done' });
    expect(done({ outcome: 'mail.sent', counts: { mails: 2 } })).toEqual({
      type: 'done',
      outcome: 'mail.sent',
      counts: { mails: 2 },
    });
    expect(repeat('10m', { outcome: 'mail.waiting' })).toEqual({
      type: 'repeat',
      after: '10m',
      outcome: 'mail.waiting',
    });
    expect(refuse('mail.unsubscribed', { since: '2026-01-31' })).toEqual({
      type: 'refuse',
      code: 'mail.unsubscribed',
      params: { since: '2026-01-31' },
    });
  });

  it.each<[string, () => unknown]>([
    ['a sentence as outcome', () => done({ outcome: 'Sent it.' })],
    ['an outcome of 101 characters', () => done({ outcome: 'a'.repeat(101) })],
    ['a count that is no number', () => done({ counts: { mails: Number.NaN } })],
    ['a count without a code', () => repeat('1m', { counts: { 'Mails sent': 1 } })],
    ['a refusal without a code', () => refuse('Not any more')],
  ])('R13: refuse %s', (_, make) => expect(make).toThrow(InvalidOutcomeError));
});

describe('checkRefusalParams', () => {
  it('R12: takes codes, numbers, booleans, null, ids and moments', () => {
    const params = {
      a: 'b.c',
      n: 1.5,
      b: true,
      z: null,
      id: 'INV-2026_1',
      day: '2026-01-31',
      at: '2026-01-31T10:00:00.123+01:00',
      utc: '2026-01-31T10:00:00Z',
    };
    expect(() => checkRefusalParams(params)).not.toThrow();
  });

  it.each<[string, unknown]>([
    ['a sentence', { why: 'he said no' }],
    ['a sentence that Date.parse takes', { why: 'call me on Jan 1' }],
    ['a long text', { why: 'a'.repeat(201) }],
    ['a nested record', { why: { a: 1 } }],
    ['NaN', { n: Number.NaN }],
    ['a name that is none', { 'a b': 1 }],
    ['U+0000', { a: 'x\0' }],
    ['too many', Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`p${n}`, n]))],
  ])('R12: refuses %s', (_, params) =>
    expect(() => checkRefusalParams(params as RefusalParams)).toThrow(InvalidOutcomeError),
  );
});
