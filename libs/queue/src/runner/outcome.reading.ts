import { parseDuration } from '@holdfast/kernel';
import { done, refuse, repeat, type Counts } from '../domain/outcome.js';
import type { Completion, Conclusion } from '../domain/settlement.js';
import { InvalidOutcomeError } from '../errors/invalid-outcome.error.js';

/** ReadOutcome is an outcome made into what is stored. */
export type ReadOutcome =
  | { readonly type: 'completion'; readonly completion: Completion; readonly counts: Counts | undefined }
  | { readonly type: 'refusal'; readonly refusal: Conclusion };

/**
 * readOutcome makes what a handler answered into what is stored.
 *
 * Nothing is done (R13). Anything that no outcome function made is checked as if one had: throws InvalidOutcomeError, which fails the attempt.
 */
export function readOutcome(answer: unknown): ReadOutcome {
  if (answer === undefined) return completed({ verb: 'complete', outcome: null }, undefined);
  const given = fieldsOf(answer);
  switch (given.type) {
    case 'done': {
      const { counts, outcome } = done(defined(given));
      return completed({ verb: 'complete', outcome: outcome ?? null }, counts);
    }
    case 'repeat': {
      const { after, counts, outcome } = repeat(given.after as string, defined(given));
      return completed({ verb: 'repeat', delayMs: delayOf(after), outcome: outcome ?? null }, counts);
    }
    case 'refuse': {
      const { code, params } = refuse(given.code as string, given.params as never);
      return { type: 'refusal', refusal: { verb: 'refuse', code, params: params ?? null } };
    }
    default:
      throw new InvalidOutcomeError('a handler answers nothing, done(), repeat() or refuse()');
  }
}

function completed(completion: Completion, counts: Counts | undefined): ReadOutcome {
  return { type: 'completion', completion, counts };
}

function defined({ counts, outcome }: Record<string, unknown>): { counts?: Counts; outcome?: string } {
  return Object.fromEntries(Object.entries({ counts, outcome }).filter(([, value]) => value !== undefined));
}

function delayOf(after: unknown): number {
  try {
    return parseDuration(after as string);
  } catch {
    throw new InvalidOutcomeError("repeat takes a delay with its unit, such as '10m'");
  }
}

/** An answer may be anything, also an object whose getters throw: it is read once. */
function fieldsOf(answer: unknown): Record<string, unknown> {
  if (typeof answer !== 'object' || answer === null)
    throw new InvalidOutcomeError(
      `a handler answers nothing, done(), repeat() or refuse(), and this one answered a ${typeof answer}`,
    );
  try {
    return { ...answer };
  } catch {
    throw new InvalidOutcomeError('the answer of a handler could not be read');
  }
}
