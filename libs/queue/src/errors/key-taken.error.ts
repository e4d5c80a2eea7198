import { HoldfastError } from '@holdfast/kernel/pure';

/** KeyTakenError says that a job cannot be requeued because another job of its key is live: that one does its work (A1, Q4). */
export class KeyTakenError extends HoldfastError {
  constructor(
    readonly jobId: string,
    /** liveJobId is the pending or running job that has the key. */
    readonly liveJobId: string,
  ) {
    super(
      'queue.key_taken',
      `Job ${jobId} cannot be requeued: job ${liveJobId} has its dedupe key and is live. Let that one do the work, or requeue once it has ended.`,
    );
  }
}
