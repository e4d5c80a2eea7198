import { startTimer, type Timer } from '@holdfast/kernel';
import { LeaseLostError } from '../errors/lease-lost.error.js';
import type { JobStore } from '../ports/job-store.js';
import type { Reporter } from '../ports/reporter.js';
import type { Run } from './run.js';

/** A tick that is later than this was held up by the event loop. */
const BLOCKED_MS = 1_000;

/**
 * LeaseKeeper renews the leases of detached runs, all in one statement every third of a lease, on a connection that no handler can block (R7, K5).
 *
 * A lease that is not ours any more aborts its run; so does one that could not be renewed for so long that it must have run out.
 */
export class LeaseKeeper {
  private dueAt = 0;
  private readonly runs = new Set<Run>();
  private stopped = true;
  private timer: Timer | undefined;

  constructor(
    private readonly store: JobStore,
    private readonly reporter: Reporter,
    private readonly leaseMs: number,
  ) {}

  private get everyMs(): number {
    return this.leaseMs / 3;
  }

  /** add renews a run from now on; it stops by itself when the run is aborted, for whatever is recorded then must not be kept alive. */
  add(run: Run): void {
    this.runs.add(run);
    run.signal.addEventListener('abort', () => this.onAbort(run), { once: true });
  }

  remove(run: Run): void {
    this.runs.delete(run);
  }

  start(): void {
    if (!this.stopped) return;
    this.stopped = false;
    this.arm(this.everyMs);
  }

  /** stop renews nothing any more. One in flight is not waited for: it matters to nobody, and may have no answer for long. */
  stop(): void {
    this.stopped = true;
    this.timer?.clear();
  }

  private arm(ms: number): void {
    if (this.stopped) return;
    this.dueAt = performance.now() + ms;
    this.timer = startTimer(ms, () => void this.tick());
  }

  /** A shutdown's abort and a cancel's leave the job ours until the handler has returned, or its time is up; any other ends the renewal. */
  private onAbort(run: Run): void {
    if (!run.mayFinish) this.remove(run);
  }

  private async renew(): Promise<boolean> {
    for (const run of this.runs) if (!run.mayFinish) this.remove(run);
    const runs = [...this.runs];
    if (runs.length === 0) return true;
    const sentAt = performance.now();
    try {
      const held = await this.store.renew(
        runs.map(({ lease }) => lease),
        this.leaseMs,
      );
      const ours = new Set(held.map(({ jobId, token }) => `${jobId} ${token}`));
      for (const run of runs) {
        if (ours.has(`${run.lease.jobId} ${run.lease.token}`)) run.renewed(sentAt);
        else this.giveUp(run, undefined);
      }
      this.reporter.report({ type: 'lease.renewed', leases: held.length });
      return true;
    } catch (error) {
      this.reporter.report({ type: 'lease.renewal_failed', error, leases: runs.length });
      for (const run of runs) if (run.leaseLeftMs <= 0) this.giveUp(run, error);
      return false;
    }
  }

  /** A run that has been settled meanwhile holds no lease any more, and rightly so. */
  private giveUp(run: Run, cause: unknown): void {
    if (this.runs.has(run) && !run.settled) run.abort(new LeaseLostError(run.ref.id, { cause }));
  }

  private async tick(): Promise<void> {
    const lateMs = performance.now() - this.dueAt;
    if (lateMs > BLOCKED_MS) this.reporter.report({ type: 'process.blocked', blockedMs: lateMs });
    const renewed = await this.renew();
    this.arm(renewed ? this.everyMs : this.everyMs / 8);
  }
}
