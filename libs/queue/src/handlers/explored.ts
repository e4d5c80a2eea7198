import { HandlerMistakesError } from '../errors/handler-mistakes.error.js';

/** Explored is what an explorer found: data to register, and every mistake that it saw on the way. */
export interface Explored<Entry> {
  readonly entries: readonly Entry[];
  readonly mistakes: readonly Error[];
}

/** refuse throws what is wrong: the error itself where it is one thing, HandlerMistakesError with all of them where it is more. */
export function refuse(mistakes: readonly Error[]): void {
  if (mistakes.length > 1) throw new HandlerMistakesError(mistakes);
  if (mistakes[0]) throw mistakes[0];
}

/** registered answers every mistake of what was found, those that registering it brings up too. */
export function registered<Entry>(
  { entries, mistakes }: Explored<Entry>,
  register: (entry: Entry) => void,
): readonly Error[] {
  const all = [...mistakes];
  for (const entry of entries) {
    try {
      register(entry);
    } catch (error) {
      all.push(error as Error);
    }
  }
  return all;
}
