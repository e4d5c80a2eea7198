import { HoldfastError } from '@holdfast/kernel/pure';

/** DuplicateCandidateError says that this process stands for a name already: two candidates on one session would both win (K107). */
export class DuplicateCandidateError extends HoldfastError {
  constructor(
    readonly candidate: string,
    /** other is the candidate that stands; another name only where both happen to have one lock key. */
    readonly other: string,
  ) {
    super('queue.duplicate_candidate', messageOf(candidate, other));
  }
}

function messageOf(candidate: string, other: string): string {
  return candidate === other
    ? `This process stands for ${JSON.stringify(candidate)} already: share that candidate, or release it first.`
    : `The names ${JSON.stringify(candidate)} and ${JSON.stringify(other)} have the same lock key: call one of them something else.`;
}
