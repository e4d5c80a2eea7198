import { HoldfastError } from '@holdfast/kernel/pure';

/** RunNotFinishedError says that a handler answered "finished" although nothing had settled its run (R22). */
export class RunNotFinishedError extends HoldfastError {
  constructor(readonly kind: string) {
    super(
      'queue.run_not_finished',
      `A handler of ${kind} answered "finished" but its run is not: return what ctx.finish answers.`,
    );
  }
}
