/** More than these are left to the poll. */
const MOST = 100;

/** SoonMoments remembers when jobs that this process has put back are due, as far as the poll would come later (Q10). */
export class SoonMoments {
  private moments: number[] = [];

  /** inMs is how long it is until the first of them; Infinity without any. */
  get inMs(): number {
    return this.moments.length === 0 ? Infinity : Math.max(0, Math.min(...this.moments) - performance.now());
  }

  add(inMs: number): void {
    // The database's clock counts from a moment before the answer: a little later is never too early.
    if (this.moments.length < MOST) this.moments.push(performance.now() + inMs + 1);
  }

  /** take answers whether any has come, and forgets those. */
  take(): boolean {
    const { length } = this.moments;
    this.moments = this.moments.filter((moment) => moment > performance.now());
    return this.moments.length < length;
  }
}
