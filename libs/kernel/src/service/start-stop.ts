/** Startable is what a StartStop starts and stops; each is called only when the other has finished. */
export interface Startable {
  /** start may look at `signal`: it aborts when somebody asks to stop meanwhile. What it opened before it throws is closed by `stop`. */
  start(signal: AbortSignal): void | Promise<void>;
  stop(): void | Promise<void>;
}

/**
 * StartStop makes starting and stopping idempotent, in any order and any number at once: calls run one after another, and one that finds its work
 * done already is a no-op.
 *
 * A failed start stops what it had begun, rejects, and may be tried again; a failed stop rejects and counts as stopped.
 */
export class StartStop {
  private interrupt = new AbortController();
  private isRunning = false;
  private last: Promise<void> = Promise.resolve();
  private stopsAhead = 0;

  constructor(private readonly what: Startable) {}

  /** running tells whether the last start has finished and no stop has begun. */
  get running(): boolean {
    return this.isRunning;
  }

  start(): Promise<void> {
    return this.next(() => this.startNow());
  }

  stop(): Promise<void> {
    this.stopsAhead++;
    this.interrupt.abort();
    return this.next(() => this.stopNow());
  }

  /** The error of the start is the one to tell. */
  private async cleanUp(): Promise<void> {
    try {
      await this.what.stop();
    } catch {
      return;
    }
  }

  private next(step: () => Promise<void>): Promise<void> {
    const result = this.last.then(step);
    this.last = result.catch(() => undefined);
    return result;
  }

  private async startNow(): Promise<void> {
    if (this.isRunning) return;
    this.interrupt = new AbortController();
    if (this.stopsAhead > 0) this.interrupt.abort();
    try {
      await this.what.start(this.interrupt.signal);
      this.isRunning = true;
    } catch (error) {
      await this.cleanUp();
      throw error;
    }
  }

  private async stopNow(): Promise<void> {
    this.stopsAhead--;
    if (!this.isRunning) return;
    this.isRunning = false;
    await this.what.stop();
  }
}
