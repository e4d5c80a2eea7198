import { HoldfastError } from '@holdfast/kernel/pure';

/** StartUnfinishedError says that a worker was told to stop while it started, and that its start did not end in time (K118). */
export class StartUnfinishedError extends HoldfastError {
  constructor(readonly waitedMs: number) {
    super(
      'queue.start_unfinished',
      `The start had not ended ${waitedMs} ms after it was told to stop, and is not waited for any longer: something that a provider or a hook awaits never comes. A longer startGrace lets a slow one end.`,
    );
  }
}
