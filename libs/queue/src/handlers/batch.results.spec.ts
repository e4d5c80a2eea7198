import { done, refuse } from '../domain/outcome.js';
import { InvalidOutcomeError } from '../errors/invalid-outcome.error.js';
import { batchResults } from './batch.results.js';

describe('The results of a batch', () => {
  const ids = ['1', '2', '3'];
  const error = new Error('no');

  it('R21: are a list in order, or a map by id; who is not named is done', () => {
    expect(batchResults(undefined, ids)).toEqual([done(), done(), done()]);
    expect(batchResults([undefined, error, refuse('a.b')], ids)).toEqual([done(), error, refuse('a.b')]);
    expect(batchResults(new Map([['2', error]]), ids)).toEqual([done(), error, done()]);
    expect(batchResults(new Map(), ids)).toEqual([done(), done(), done()]);
  });

  it.each([
    ['too few', [done()]],
    ['too many', [done(), done(), done(), done()]],
    ['of another job', new Map([['4', done()]])],
    ['by something that is no id', new Map([[2, done()]])],
    ['one outcome for all', done()],
    ['null', null],
    ['a text', 'done'],
  ])('R21: are refused when they are %s: nobody knows whose they are', (_, answer) => {
    expect(() => batchResults(answer, ids)).toThrow(InvalidOutcomeError);
  });
});
