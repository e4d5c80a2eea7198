import { HoldfastError } from '@holdfast/kernel/pure';
import { unended } from './unended.js';

/** InvalidRunnerOptionsError names every problem of a runner's options at once. */
export class InvalidRunnerOptionsError extends HoldfastError {
  constructor(readonly problems: readonly string[]) {
    super('queue.invalid_runner_options', `The runner cannot start: ${problems.map(unended).join('; ')}.`);
  }
}
