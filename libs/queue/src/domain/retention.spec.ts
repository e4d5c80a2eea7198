import { DEFAULT_RETENTION, problemOfRetention, retentionOf } from './retention.js';

describe('retention', () => {
  it('S5: the defaults are a day for jobs that succeeded and 14 for the others', () => {
    const day = 86_400_000;
    expect(DEFAULT_RETENTION).toEqual({ cancelled: 14 * day, deadLetter: 14 * day, failed: 14 * day, succeeded: day });
  });

  it('S5: what was given is kept, what was not is left to others', () => {
    const given = { cancelled: undefined, deadLetter: 'forever', succeeded: '90m' } as never;
    expect(problemOfRetention(given)).toBeUndefined();
    expect(retentionOf(given)).toEqual({ deadLetter: 'forever', succeeded: 5_400_000 });
    expect(retentionOf({})).toEqual({});
  });

  it.each([
    [null, /must be an object/],
    ['1d', /must be an object/],
    [{ done: '1d' }, /done is no final state/],
    [{ pending: '1d' }, /pending is no final state/],
    [{ succeeded: '59s' }, /succeeded must be at least '1m', not 59s/],
    [{ succeeded: '0s' }, /at least '1m'/],
    [{ failed: 14 }, /failed is refused.*or write 'forever'/],
    [{ failed: 'never' }, /failed is refused.*or write 'forever'/],
    [{ cancelled: '11000d', failed: -1 }, /cancelled is refused.*failed is refused/],
  ])('S5, K55: refuses %j', (given, problem) => {
    expect(problemOfRetention(given)).toMatch(problem);
  });
});
