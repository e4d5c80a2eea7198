import { HoldfastError } from '@holdfast/kernel/pure';

/** LeadershipClosedError says that a leadership was asked for a candidate, or a candidate for the lead, after its `close`. */
export class LeadershipClosedError extends HoldfastError {
  constructor() {
    super('queue.leadership_closed', 'This leadership has been closed: stand for a name before the shutdown.');
  }
}
