import { HoldfastError } from '@holdfast/kernel/pure';

/** TimedOutError says that an attempt took longer than its kind allows (R6). */
export class TimedOutError extends HoldfastError {
  constructor(
    readonly kind: string,
    readonly timeoutMs: number,
    /** lateMs is how much later than due the runner could notice it: the event loop was blocked for as long. */
    readonly lateMs: number,
  ) {
    const blocked = lateMs > 1_000 ? ` The event loop was blocked; it was noticed ${Math.round(lateMs)} ms late.` : '';
    super(
      'queue.timed_out',
      `The attempt ran longer than the ${timeoutMs} ms that ${kind} allows: make it shorter, stop at its signal, or raise the timeout.${blocked}`,
    );
  }
}
