import type { CrashRound } from './crash-test.js';
import { KitError } from './kit.errors.js';

/** CrashTestError says after which crashes a handler's effect was not there exactly as often as it should be. */
export class CrashTestError extends KitError {
  constructor(
    kind: string,
    readonly failed: readonly CrashRound[],
    readonly rounds: readonly CrashRound[],
  ) {
    super(
      [
        `The handler of ${kind} does not survive ${failed.length} of ${rounds.length} crashes. Write through the transaction that the handler gets, and nowhere else:`,
        ...failed.map(({ at, problem }) => `  ${at}: ${String(problem)}`),
      ].join('\n'),
    );
  }
}
