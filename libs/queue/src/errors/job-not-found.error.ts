import { HoldfastError } from '@holdfast/kernel/pure';

/** JobNotFoundError says that an id names no job, and no request that becomes one (A1). */
export class JobNotFoundError extends HoldfastError {
  constructor(readonly jobId: string) {
    super(
      'queue.job_not_found',
      `There is no job ${jobId}: it may have been removed since by retention, delete or purge, or its enqueue was rolled back.`,
    );
  }
}
