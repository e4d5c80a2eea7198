import { HoldfastError } from '@holdfast/kernel/pure';

/** UnlockFailedError is the reason of a loss: giving up a name failed, or the session did not hold it, and was destroyed (K107). */
export class UnlockFailedError extends HoldfastError {
  constructor(
    readonly candidate: string,
    options?: ErrorOptions,
  ) {
    super(
      'queue.unlock_failed',
      `The lock of ${JSON.stringify(candidate)} was not on the session that took it, so the session was ended. Does something unlock or reset the leader's session in a transaction of its own?`,
      options,
    );
  }
}
