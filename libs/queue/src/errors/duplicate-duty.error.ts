import { HoldfastError } from '@holdfast/kernel/pure';

/** DuplicateDutyError says that two duties have one name, under which the last run of one of them would hide the other's. */
export class DuplicateDutyError extends HoldfastError {
  constructor(
    readonly duty: string,
    readonly sources: readonly string[],
  ) {
    super(
      'queue.duplicate_duty',
      `The name ${duty} is that of two duties, ${sources.join(' and ')}: give one of them a name of its own.`,
    );
  }
}
