import { HoldfastError } from '@holdfast/kernel/pure';

/** QueueClosedError says that something was asked of a queue after its `close`. */
export class QueueClosedError extends HoldfastError {
  constructor() {
    super('queue.closed', 'This queue has been closed: make a new one.');
  }
}
