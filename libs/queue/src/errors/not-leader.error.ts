import { HoldfastError } from '@holdfast/kernel/pure';

/** NotLeaderError says that a leader's transaction was refused, or rolled back, because this process does not lead, or does not any more (L3). */
export class NotLeaderError extends HoldfastError {
  constructor(
    readonly candidate: string,
    options?: ErrorOptions,
  ) {
    super(
      'queue.not_leader',
      `This process does not lead ${JSON.stringify(candidate)}, and nothing of the transaction was committed: leave the work to the leader's next tick.`,
      options,
    );
  }
}
