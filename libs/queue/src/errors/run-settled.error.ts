import { HoldfastError } from '@holdfast/kernel/pure';

/** RunSettledError says that a run was asked to do something after its end. */
export class RunSettledError extends HoldfastError {
  constructor(readonly asked: string) {
    super('queue.run_settled', `${asked} came after the run was settled: a run ends once.`);
  }
}
