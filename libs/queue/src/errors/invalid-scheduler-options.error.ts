import { HoldfastError } from '@holdfast/kernel/pure';
import { unended } from './unended.js';

/** InvalidSchedulerOptionsError names every problem of a scheduler's options at once. */
export class InvalidSchedulerOptionsError extends HoldfastError {
  constructor(readonly problems: readonly string[]) {
    super('queue.invalid_scheduler_options', `The scheduler cannot start: ${problems.map(unended).join('; ')}.`);
  }
}
