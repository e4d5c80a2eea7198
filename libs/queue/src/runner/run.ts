import { startTimer, type Timer } from '@holdfast/kernel';
import type { Lease } from '../domain/lease.js';
import { JobCancelledError } from '../errors/job-cancelled.error.js';
import { RunStoppedError } from '../errors/run-stopped.error.js';
import { TimedOutError } from '../errors/timed-out.error.js';
import type { ClaimedJob } from '../ports/job-store.js';
import type { RunRef } from '../ports/runner.events.js';
import type { KindPlan } from './kind.plan.js';

/** Run is one attempt at a job in this process: its lease by our own clock, its signal, and when its handler has returned. */
export class Run {
  readonly ref: RunRef;
  /** settled is set once something has ended the attempt for good, or tries to: nothing else may. */
  settled = false;
  private readonly controller = new AbortController();
  private endedAt: number | undefined;
  private handlerReturned: Promise<void> = Promise.resolve();
  /** inHandler counts the calls that have not returned: a batch that was given up may still be at work when its jobs are run alone. */
  private inHandler = 0;
  private leaseFrom: number;
  /** overtime: its time was up, also where the signal had been aborted before that. */
  private overtime = false;
  private startedAt: number;
  private timer: Timer | undefined;

  constructor(
    readonly claimed: ClaimedJob,
    readonly plan: KindPlan,
    /** claimSentAt is the monotonic moment before the claim was sent: the lease began no earlier. */
    claimSentAt: number,
  ) {
    this.leaseFrom = claimSentAt;
    this.startedAt = performance.now();
    this.ref = { attempt: claimed.attempt, id: claimed.id, kind: claimed.kind, tenantId: claimed.tenantId };
  }

  /** isInHandler tells whether its handler has been called and has not returned. */
  get isInHandler(): boolean {
    return this.inHandler > 0;
  }

  get lease(): Lease {
    return this.claimed.lease;
  }

  /** leaseLeftMs is how much of the lease is left at least, by the monotonic clock. */
  get leaseLeftMs(): number {
    return this.leaseFrom + this.plan.leaseMs - performance.now();
  }

  /** mayFinish tells whether a detached run may still commit: at a shutdown or a cancel it may, past its time or without its lease it may not. */
  get mayFinish(): boolean {
    const { stoppedBy } = this;
    if (this.overtime) return false;
    return !stoppedBy || stoppedBy instanceof JobCancelledError || stoppedBy instanceof RunStoppedError;
  }

  /** mayStart tells whether enough of the lease is left for a whole timeout (Q13). */
  get mayStart(): boolean {
    return this.leaseLeftMs >= this.plan.startNeedsMs;
  }

  get ranMs(): number {
    return (this.endedAt ?? performance.now()) - this.startedAt;
  }

  /** returned resolves once the handler has returned, however long that takes (R6). */
  get returned(): Promise<void> {
    return this.handlerReturned;
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** stoppedBy is why the signal was aborted, or undefined. */
  get stoppedBy(): Error | undefined {
    return this.signal.aborted ? (this.signal.reason as Error) : undefined;
  }

  abort(reason: Error): void {
    if (!this.signal.aborted) this.controller.abort(reason);
  }

  /** call runs the handler; what it throws before its first await is a rejection like any other. */
  call<T>(handler: () => Promise<T>): Promise<T> {
    this.inHandler += 1;
    const answer = (async () => handler())();
    const returned = () => void (this.inHandler -= 1);
    const before = this.handlerReturned;
    this.handlerReturned = answer.then(returned, returned).then(() => before);
    return answer;
  }

  /** endTimeout stops the clock of the attempt. */
  endTimeout(): void {
    this.timer?.clear();
    this.timer = undefined;
  }

  /** noticeTimeout aborts a run that is over its time although its timer could not fire: the event loop was blocked (K110). */
  noticeTimeout(): void {
    if (this.timer && this.ranMs >= this.plan.timeoutMs) this.timeOut();
  }

  /** renewed says that the lease was extended by a request that was sent at `sentAt`. */
  renewed(sentAt: number): void {
    this.leaseFrom = Math.max(this.leaseFrom, sentAt);
  }

  /** startClock starts the time of the attempt, which something else bounds. */
  startClock(): void {
    this.endedAt = undefined;
    this.startedAt = performance.now();
    this.overtime = false;
  }

  /** startTimeout starts the clock of the attempt: at its end the signal aborts. */
  startTimeout(): void {
    this.startClock();
    this.timer?.clear();
    this.timer = startTimer(this.plan.timeoutMs, () => this.timeOut());
  }

  /** stopClock ends the time of the attempt, though it is not settled yet: its group goes on. */
  stopClock(): void {
    this.endTimeout();
    this.endedAt ??= performance.now();
  }

  private timeOut(): void {
    const lateMs = Math.max(0, this.ranMs - this.plan.timeoutMs);
    this.endTimeout();
    this.overtime = true;
    this.abort(new TimedOutError(this.ref.kind, this.plan.timeoutMs, lateMs));
  }
}
