import { HoldfastError } from '@holdfast/kernel/pure';

/** DutyStoppedError is the reason of a signal that the stop of the scheduler aborts: the duty is due again at once, for the next leader. */
export class DutyStoppedError extends HoldfastError {
  constructor(readonly duty: string) {
    super('queue.duty_stopped', `The process is stopping: the next leader runs the duty ${duty} again.`);
  }
}
