import { HoldfastError } from '@holdfast/kernel/pure';

/** DutyTimedOutError says that a run of a duty took longer than its deadline (S3). */
export class DutyTimedOutError extends HoldfastError {
  constructor(
    readonly duty: string,
    readonly deadlineMs: number,
  ) {
    super(
      'queue.duty_timed_out',
      `The duty ${duty} ran longer than the ${deadlineMs} ms of its deadline: make it shorter, stop at its signal, or raise the deadline.`,
    );
  }
}
