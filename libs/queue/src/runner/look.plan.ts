import type { Look } from './look.js';
import { SoonMoments } from './soon.moments.js';
import { WakeTide } from './wake.tide.js';

/** The part of a poll by which it may come earlier, so that processes do not look in step. */
const POLL_JITTER = 0.2;

/** LookPlan knows when the loop is to look for work, and why: its polls, what was asked of it, and the hints that there may be some (R18, Q10). */
export class LookPlan {
  private asked = true;
  private hinted = false;
  private pollAt = 0;
  private readonly soon = new SoonMoments();
  /** sweepNext: the next poll looks for leases that ran out and for suspects too, as a wake does. */
  private sweepNext = true;
  private readonly tide = new WakeTide();

  constructor(private readonly pollMs: number) {}

  /** hintInMs is when to look without being told, before the poll; Infinity without such a moment. */
  get hintInMs(): number {
    return this.hinted ? 0 : Math.min(this.tide.lookInMs, this.soon.inMs);
  }

  get isAsked(): boolean {
    return this.asked;
  }

  get pollInMs(): number {
    return Math.max(0, this.pollAt - performance.now());
  }

  /** sparesWakes: it looks by itself so often that nobody need wake it. */
  get sparesWakes(): boolean {
    return this.tide.isHigh;
  }

  /** ask wants a full look now. */
  ask(): void {
    this.asked = true;
  }

  /** dueIn notes when a job that was put back is due; what comes after the poll is left to it. Answers whether it was noted. */
  dueIn(ms: number): boolean {
    if (ms >= this.pollMs) return false;
    this.soon.add(ms);
    return true;
  }

  /** looked notes whether a look found anything. */
  looked(found: boolean): void {
    this.tide.looked(found);
  }

  /** notified notes that there may be work. */
  notified(): void {
    this.hinted = true;
    this.tide.woken();
  }

  /** polled begins the time until the next poll. */
  polled(): void {
    this.pollAt = performance.now() + this.pollMs * (1 - POLL_JITTER * Math.random());
  }

  /** sweepAgain: there is more of what only every other poll looks for. */
  sweepAgain(): void {
    this.sweepNext = true;
  }

  /**
   * take answers whether this pass is to look, and how far: as a poll, or because it is asked, or because what failed may be tried again
   * (`retryDue`), or for a hint. A hint waits until there is room (`hasRoom`).
   */
  take(retryDue: boolean, hasRoom: boolean): Look | undefined {
    const asked = this.asked || retryDue;
    this.asked = false;
    const polled = asked || this.pollInMs === 0;
    const hinted = hasRoom && this.takeHint();
    if (!polled) return hinted ? { asked: false, polled: false, sweep: false } : undefined;
    const sweep = asked || this.sweepNext;
    this.sweepNext = !sweep;
    return { asked, polled, sweep };
  }

  private takeHint(): boolean {
    const hinted = this.hinted;
    this.hinted = false;
    const soon = this.soon.take();
    return hinted || soon || this.tide.lookInMs === 0;
  }
}
