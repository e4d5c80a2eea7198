import { HoldfastError } from '@holdfast/kernel/pure';

/** PoolTooSmallError says that the application's pool cannot carry the runner's slots, with the sum (R19). */
export class PoolTooSmallError extends HoldfastError {
  constructor(
    readonly poolSize: number,
    readonly needed: number,
    readonly sum: string,
  ) {
    super(
      'queue.pool_too_small',
      `The application's pool has ${poolSize} connections and the runner needs ${needed} (${sum}): raise the pool's maximum or lower the slots.`,
    );
  }
}
