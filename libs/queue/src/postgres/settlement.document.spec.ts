import { boundedDelay, documentText, settlementDocument } from './settlement.document.js';

const TEN_YEARS_MS = 315_360_000_000;

describe('a settlement as it is sent', () => {
  it.each([
    [Number.NaN, 0],
    [-5, 0],
    [1.6, 2],
    [1e300, TEN_YEARS_MS],
    [Number.POSITIVE_INFINITY, TEN_YEARS_MS],
  ])('K57: a delay of %p ms is sent as %p', (ms, sent) => {
    expect(boundedDelay(ms)).toBe(sent);
  });

  it('K3: every text in it can be stored, keys and codes included', () => {
    const failure = { attempt: 1, code: `a\0${'x'.repeat(200)}`, errorClass: '\ud800', message: 'm\0'.repeat(9_000) };
    const text = documentText({ 1: settlementDocument('token', { failure, verb: 'bury' }) });
    expect(text).not.toMatch(/\\u0000|\\ud800/);
    const { code, failure: sent } = (
      JSON.parse(text) as Record<string, { code: string; failure: { message: string } }>
    )['1']!;
    expect(code).toHaveLength(100);
    expect(sent.message).toHaveLength(2_000);
  });
});
