import { timingsOf, type LeaderTimings } from './leader.timings.js';
import type { Silence } from './silence.js';
import type { Stake } from './stake.js';

/** HeldStakes are the names that one session holds, and the timings that follow from the smallest tick among them. */
export class HeldStakes {
  private readonly byKey = new Map<number, Stake>();
  /** One that is being taken or given up counts for the timings: nobody knows yet whether the server holds it. */
  private readonly pending = new Set<Stake>();

  get empty(): boolean {
    return this.byKey.size === 0;
  }

  get keys(): readonly number[] {
    return [...this.byKey.keys()];
  }

  /** silence is how long the server is to put up with a silent session that holds these, and `more`. */
  silenceWith(...more: Stake[]): Silence {
    const stakes = [...this.byKey.values(), ...more];
    return stakes.length === 0 ? undefined : timingsOf(smallest(stakes));
  }

  /** tickMs is the smallest tick of what is held, or being taken or given up; undefined where there is none. */
  get tickMs(): number | undefined {
    const stakes = [...this.byKey.values(), ...this.pending];
    return stakes.length === 0 ? undefined : smallest(stakes);
  }

  get timings(): LeaderTimings | undefined {
    const { tickMs } = this;
    return tickMs === undefined ? undefined : timingsOf(tickMs);
  }

  add(stake: Stake): void {
    this.byKey.set(stake.key, stake);
  }

  /** clear forgets all and answers what was held. */
  clear(): Stake[] {
    const held = [...this.byKey.values()];
    this.byKey.clear();
    return held;
  }

  has(stake: Stake): boolean {
    return this.byKey.get(stake.key) === stake;
  }

  remove(stake: Stake): void {
    this.byKey.delete(stake.key);
  }

  /** whilePending lets a stake count for the timings until `work` has ended. */
  async whilePending<T>(stake: Stake, work: () => Promise<T>): Promise<T> {
    this.pending.add(stake);
    try {
      return await work();
    } finally {
      this.pending.delete(stake);
    }
  }
}

function smallest(stakes: readonly Stake[]): number {
  return Math.min(...stakes.map(({ tickMs }) => tickMs));
}
