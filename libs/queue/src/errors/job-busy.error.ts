import { HoldfastError } from '@holdfast/kernel/pure';

/** JobBusyError says that a job could not be changed because an open transaction holds its row, or its key, for longer than two seconds (A1, R16). */
export class JobBusyError extends HoldfastError {
  constructor(
    readonly jobId: string,
    options?: ErrorOptions,
  ) {
    super(
      'queue.job_busy',
      `Job ${jobId} could not be changed within 2 s, because another transaction holds it or its key: nothing was changed, ask again.`,
      options,
    );
  }
}
