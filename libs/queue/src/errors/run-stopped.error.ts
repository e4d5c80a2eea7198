import { HoldfastError } from '@holdfast/kernel/pure';

/** RunStoppedError is the reason of a signal that a shutdown aborts: the job goes back with its attempt (R17). */
export class RunStoppedError extends HoldfastError {
  constructor() {
    super(
      'queue.run_stopped',
      'The process is stopping and its grace period is over: the job goes back and runs elsewhere.',
    );
  }
}
