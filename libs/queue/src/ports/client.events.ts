import type { Disposition } from '../domain/request.js';

/** ClientEvent is what came of enqueues in this process. */
export interface ClientEvent {
  readonly type: 'job.enqueued';
  /**
   * confirmed: the transaction has committed. False where that cannot be known: it is not Holdfast's own, or it went back to a savepoint after the enqueue, which
   * may have been undone with it. Told when the enqueue was answered, or at the commit.
   */
  readonly confirmed: boolean;
  readonly disposition: Disposition;
  /** jobs is how many requests of one kind had this answer: those of a transaction are told together. */
  readonly jobs: number;
  readonly kind: string;
}
