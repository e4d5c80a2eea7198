import { HoldfastError } from '@holdfast/kernel/pure';
import type { JobStateName } from '../domain/job-state.js';

/** JobStateError says that a job is not in a state in which an operator's verb applies to it; it is as it was (A1). */
export class JobStateError extends HoldfastError {
  constructor(
    readonly jobId: string,
    /** state is the job's at that moment. */
    readonly state: JobStateName,
    /** allowed are the states in which the verb applies. */
    readonly allowed: readonly JobStateName[],
  ) {
    super(
      'queue.job_state',
      `Job ${jobId} is ${state}: this works for ${allowed.join(', ')} only. It was not changed; look at it again with find.`,
    );
  }
}
