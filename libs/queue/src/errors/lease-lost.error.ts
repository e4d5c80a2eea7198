import { HoldfastError } from '@holdfast/kernel/pure';

/** LeaseLostError says that a run no longer holds its job: everything it did in its transaction was rolled back, and nothing is recorded (R2). */
export class LeaseLostError extends HoldfastError {
  constructor(
    readonly jobId: string,
    options?: ErrorOptions,
  ) {
    super(
      'queue.lease_lost',
      `The run no longer holds job ${jobId}: its lease ran out or was taken back, and another run may have it. If it came too late, raise the timeout of the definition.`,
      options,
    );
  }
}
