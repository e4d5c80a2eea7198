import { type DoneOutcome, done, type Outcome } from '../domain/outcome.js';
import { InvalidOutcomeError } from '../errors/invalid-outcome.error.js';

/** BatchResult is what became of one job of a batch: an outcome, or the error with which it alone has failed. */
export type BatchResult = Error | Outcome;

/**
 * BatchResults are the results of a batch: a list in the order of its jobs, or a map by their ids. Who is not named in the map, or is undefined, is done.
 */
export type BatchResults = ReadonlyMap<string, BatchResult | undefined> | readonly (BatchResult | undefined)[];

const DONE: DoneOutcome = Object.freeze(done());

/**
 * batchResults answers a result for each job, in order. Throws InvalidOutcomeError for a list of another length, a map that names another job, and anything else:
 * then nobody knows whose results these are.
 */
export function batchResults(answer: unknown, ids: readonly string[]): BatchResult[] {
  if (answer === undefined) return ids.map(() => DONE);
  if (Array.isArray(answer)) {
    if (answer.length !== ids.length)
      throw new InvalidOutcomeError(`a batch of ${ids.length} jobs was answered with ${answer.length} results`);
    return ids.map((_, index) => (answer[index] as BatchResult | undefined) ?? DONE);
  }
  if (answer instanceof Map) {
    const results = answer as ReadonlyMap<unknown, BatchResult | undefined>;
    const stranger = [...results.keys()].find((id) => typeof id !== 'string' || !ids.includes(id));
    if (stranger !== undefined) throw new InvalidOutcomeError('a batch was answered with the result of another job');
    return ids.map((id) => results.get(id) ?? DONE);
  }
  throw new InvalidOutcomeError('a batch handler answers nothing, a list of results, or a map of results by job id');
}
