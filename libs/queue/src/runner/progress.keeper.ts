import { startTimer, type Timer, withDeadline } from '@holdfast/kernel';
import type { JobStore } from '../ports/job-store.js';
import type { Run } from './run.js';
import type { StageGuard } from './stage.guard.js';

/** Runs that report are written together, no more often than this. */
const EVERY_MS = 1_000;
/** The end of a run waits no longer for its last report to be written. */
const FLUSH_WITHIN_MS = 1_000;

/**
 * ProgressKeeper writes what the runs of this process report of their progress (R15): outside their transactions, on control connections, and fenced by their
 * tokens. All that was reported meanwhile is one statement, at most once a second; what a run has reported last is written before its end is.
 *
 * Nothing of it reaches a handler: what cannot be written is told, tried again later, each time with the newest value, and given up with the run.
 */
export class ProgressKeeper {
  /** dirty is what has been reported and not been sent. */
  private readonly dirty = new Map<Run, number>();
  private lastAt = -Infinity;
  private readonly sent = new Map<Run, number>();
  private stopped = false;
  private timer: Timer | undefined;
  private writing: Promise<void> | undefined;
  private readonly written = new WeakMap<Run, number>();

  constructor(
    private readonly store: JobStore,
    private readonly guard: StageGuard,
    private readonly everyMs = EVERY_MS,
  ) {}

  /** flush writes what a run has reported last, before its end is recorded. It takes half of what is left of the run's time at most, and never rejects. */
  async flush(run: Run): Promise<void> {
    const withinMs = Math.min(FLUSH_WITHIN_MS, (run.plan.timeoutMs - run.ranMs) / 2);
    if (withinMs > 0 && this.owes(run)) {
      const late = () => new Error('late');
      await withDeadline(this.settle(run), withinMs, late).catch(() => undefined);
    }
    this.dirty.delete(run);
  }

  /** note takes a report: a number, clamped to 0..1. Anything else is no report. */
  note(run: Run, fraction: unknown): void {
    if (this.stopped || run.settled || typeof fraction !== 'number' || Number.isNaN(fraction)) return;
    const value = Math.min(1, Math.max(0, fraction));
    if (!this.owes(run) && this.written.get(run) === value) return;
    this.dirty.set(run, value);
    this.arm();
  }

  /** stop writes nothing any more. One in flight is not waited for. */
  stop(): void {
    this.stopped = true;
    this.timer?.clear();
    this.dirty.clear();
  }

  private arm(): void {
    if (this.timer || this.writing || this.stopped || this.dirty.size === 0) return;
    const waitMs = Math.max(0, this.lastAt + this.everyMs - performance.now(), this.guard.delayOf('progress'));
    this.timer = startTimer(waitMs, () => void this.write(), { unref: true });
  }

  private owes(run: Run): boolean {
    return this.dirty.has(run) || this.sent.has(run);
  }

  /** During an outage nobody waits. */
  private async settle(run: Run): Promise<void> {
    while (this.owes(run) && !this.stopped && this.guard.delayOf('progress') === 0)
      await (this.writing ?? this.write());
  }

  private write(): Promise<void> {
    this.timer?.clear();
    this.timer = undefined;
    this.lastAt = performance.now();
    for (const [run, fraction] of this.dirty) this.sent.set(run, fraction);
    this.dirty.clear();
    this.writing = this.send().finally(() => {
      this.writing = undefined;
      this.sent.clear();
      this.arm();
    });
    return this.writing;
  }

  private async send(): Promise<void> {
    const reports = [...this.sent].map(([run, fraction]) => ({ fraction, lease: run.lease }));
    const held = await this.guard.run('progress', () => this.store.report(reports));
    const ours = new Set(held?.map(({ jobId, token }) => `${jobId} ${token}`));
    for (const [run, fraction] of this.sent) {
      if (ours.has(`${run.lease.jobId} ${run.lease.token}`)) this.written.set(run, fraction);
      else if (!held && !run.settled && !this.dirty.has(run)) this.dirty.set(run, fraction);
    }
  }
}
