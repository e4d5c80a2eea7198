import { HoldfastError } from '@holdfast/kernel/pure';

/** InvalidCandidateError says what is wrong with a name, or a tick, that is to be stood for. */
export class InvalidCandidateError extends HoldfastError {
  constructor(
    readonly candidate: unknown,
    readonly problem: string,
  ) {
    super('queue.invalid_candidate', `Nobody can stand for ${JSON.stringify(candidate) ?? 'undefined'}: ${problem}.`);
  }
}
