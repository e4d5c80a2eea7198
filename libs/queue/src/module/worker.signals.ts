import { constants } from 'node:os';
import type { Logger } from '@nestjs/common';

/** A terminal's Ctrl-C comes from the terminal and from npm: what comes so soon after the first is the same wish. */
const SAME_WISH_MS = 1_000;
const SIGNAL_EXIT = 128;

/** WorkerSignalsOptions say what is listened to and what is done. */
export interface WorkerSignalsOptions {
  readonly logger: Logger;
  readonly signals: readonly NodeJS.Signals[];
  /** stop ends the worker in good order; the process ends with 0 once it has resolved, with 1 when it rejects. */
  readonly stop: (signal: NodeJS.Signals) => Promise<void>;
}

/** WorkerSignals end the process in good order at the first signal, and at once at a second (K56, K118). */
export class WorkerSignals {
  private firstAt: number | undefined;
  private readonly listener = (signal: NodeJS.Signals): void => this.heard(signal);

  constructor(private readonly options: WorkerSignalsOptions) {
    for (const signal of options.signals) process.on(signal, this.listener);
  }

  /** off listens no longer. */
  off(): void {
    for (const signal of this.options.signals) process.off(signal, this.listener);
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const { logger, stop } = this.options;
    try {
      await stop(signal);
      // A handler that ignored its abort would keep the process: its job has been given back.
      process.exit(0);
    } catch (error) {
      logger.error('The worker did not end in good order.', error);
      process.exit(1);
    }
  }

  private heard(signal: NodeJS.Signals): void {
    const { logger } = this.options;
    if (this.firstAt === undefined) {
      this.firstAt = performance.now();
      logger.log(`${signal}: the worker ends what it runs; a second signal ends it at once.`);
      void this.end(signal);
    } else if (performance.now() - this.firstAt >= SAME_WISH_MS) {
      logger.error(`${signal} again: the worker ends at once. What it ran comes back when its leases have run out.`);
      process.exit(SIGNAL_EXIT + constants.signals[signal]);
    }
  }
}
