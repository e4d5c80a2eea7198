import { HoldfastError } from '@holdfast/kernel/pure';
import { unended } from './unended.js';

/** InvalidQueueOptionsError lists everything that is wrong with the options of a queue, so that they are mended in one go. */
export class InvalidQueueOptionsError extends HoldfastError {
  constructor(readonly problems: readonly string[]) {
    super('queue.invalid_options', `The options of the queue are invalid: ${problems.map(unended).join('; ')}.`);
  }
}
