import { startTimer, type Timer } from '@holdfast/kernel';
import { JobCancelledError } from '../errors/job-cancelled.error.js';
import type { JobStore } from '../ports/job-store.js';
import type { Run } from './run.js';
import type { StageGuard } from './stage.guard.js';

/**
 * CancelWatch asks, once a second, whether any job that runs here is to be cancelled, and aborts its signal (R16).
 *
 * One statement for all of them, and none while nothing runs: what ends within a second is never asked about.
 */
export class CancelWatch {
  private readonly runs = new Set<Run>();
  private stopped = false;
  private timer: Timer | undefined;

  constructor(
    private readonly store: JobStore,
    private readonly guard: StageGuard,
    private readonly everyMs: number,
  ) {}

  add(run: Run): void {
    this.runs.add(run);
    this.timer ??= startTimer(this.everyMs, () => void this.tick());
  }

  /** remove forgets a run that has ended. A timer that is left finds nothing to ask, and is the last. */
  remove(run: Run): void {
    this.runs.delete(run);
  }

  stop(): void {
    this.stopped = true;
    this.timer?.clear();
  }

  private async look(): Promise<void> {
    const runs = [...this.runs].filter(({ settled, signal }) => !settled && !signal.aborted);
    if (runs.length === 0) return;
    const leases = runs.map(({ lease }) => lease);
    const asked = await this.guard.run('cancels', () => this.store.cancelsOf(leases));
    const ids = new Set(asked?.map(({ jobId }) => jobId));
    for (const run of runs) {
      if (ids.has(run.ref.id) && this.runs.has(run) && !run.settled) run.abort(new JobCancelledError(run.ref.id));
    }
  }

  /** It never rejects: the guard tells of what fails. */
  private async tick(): Promise<void> {
    await this.look();
    this.timer = undefined;
    if (!this.stopped && this.runs.size > 0) this.timer = startTimer(this.everyMs, () => void this.tick());
  }
}
