import { HoldfastError } from '@holdfast/kernel/pure';

/** LeadershipUnprovedError is the reason of a loss: the last proof is too old, or the server says that the lock is not held (L2). */
export class LeadershipUnprovedError extends HoldfastError {
  constructor(
    /** problem says what is in doubt. */
    readonly problem: string,
    options?: ErrorOptions,
  ) {
    super(
      'queue.leadership_unproved',
      `The leadership could not be proved (${problem}) and is given up. Where it happens often, look for a blocked event loop or a slow network, or lengthen the tick.`,
      options,
    );
  }
}
