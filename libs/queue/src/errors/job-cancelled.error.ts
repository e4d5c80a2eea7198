import { HoldfastError } from '@holdfast/kernel/pure';

/** JobCancelledError is the reason of a signal that a request to cancel the job aborts (R16). */
export class JobCancelledError extends HoldfastError {
  constructor(readonly jobId: string) {
    super(
      'queue.cancelled',
      `Job ${jobId} was asked to be cancelled: stop and throw. A detached handler that has done its work may still say so: done, it ends as SUCCEEDED.`,
    );
  }
}
