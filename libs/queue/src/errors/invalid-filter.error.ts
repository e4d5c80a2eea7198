import { HoldfastError } from '@holdfast/kernel/pure';
import { unended } from './unended.js';

/** InvalidFilterError says what is wrong with what an operator's verb was given; nothing was read or changed (A1). */
export class InvalidFilterError extends HoldfastError {
  constructor(
    readonly field: string,
    readonly reason: string,
  ) {
    super('queue.filter_refused', `This cannot be asked: ${field} ${unended(reason)}.`);
  }
}
