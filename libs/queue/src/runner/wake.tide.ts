const WINDOW_MS = 100;
/** More wakes than this in a window: it is cheaper for everybody to look by oneself. */
const HIGH = 5;
const LOOK_EVERY_MS = 10;
/** Looks in a row that find nothing, after which it is left to others to say so again. */
const EMPTY_LOOKS = 3;

/** WakeTide tells from how often wakes come whether a process is busy, and looks by itself, at short intervals and unasked (Q10). */
export class WakeTide {
  private count = 0;
  private empty = 0;
  private high = false;
  private nextAt = Infinity;
  private windowAt = -Infinity;

  /** isHigh: wakes are to be spared. */
  get isHigh(): boolean {
    return this.high;
  }

  /** lookInMs is when to look by oneself; Infinity while that is not needed. */
  get lookInMs(): number {
    return this.high ? Math.max(0, this.nextAt - performance.now()) : Infinity;
  }

  /** looked notes what a look found. */
  looked(found: boolean): void {
    if (!this.high) return;
    this.empty = found ? 0 : this.empty + 1;
    this.high = this.empty < EMPTY_LOOKS;
    this.nextAt = performance.now() + LOOK_EVERY_MS;
  }

  /** woken notes a wake. */
  woken(): void {
    const now = performance.now();
    if (now - this.windowAt > WINDOW_MS) {
      this.windowAt = now;
      this.count = 0;
    }
    this.count += 1;
    if (this.high || this.count <= HIGH) return;
    this.empty = 0;
    this.high = true;
    this.nextAt = now + LOOK_EVERY_MS;
  }
}
