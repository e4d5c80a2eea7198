import type { KindClaim } from '../ports/job-store.js';
import type { KindPlan } from './kind.plan.js';

/** KindSlots counts what runs in this process: all slots together, and each kind's own concurrency (Q15). */
export class KindSlots {
  /** hungry kinds got all they asked for the last time: there may be more. */
  private readonly hungry = new Set<string>();
  private next = 0;
  private readonly runningByKind = new Map<string, number>();
  private total = 0;

  constructor(
    private readonly slots: number,
    private readonly plans: readonly KindPlan[],
  ) {}

  get free(): number {
    return this.slots - this.total;
  }

  /** isHungry tells whether a claim is worth its round trip: a kind that may have more due has room. */
  get isHungry(): boolean {
    return this.free > 0 && this.plans.some((plan) => this.hungry.has(plan.kind) && this.room(plan) > 0);
  }

  /** open kinds have room for one more. */
  get open(): string[] {
    return this.plans.filter((plan) => this.room(plan) > 0).map(({ kind }) => kind);
  }

  get running(): number {
    return this.total;
  }

  /** runningOfKinds is how many slots each kind has taken. */
  get runningOfKinds(): Record<string, number> {
    return Object.fromEntries(this.plans.map(({ kind }) => [kind, this.runningOf(kind)]));
  }

  /** ask answers what the next claim may take of each kind; each call begins with another kind, so that none starves another. */
  ask(): KindClaim[] {
    const { length } = this.plans;
    const turned = this.plans.map((_, index) => this.plans[(this.next + index) % length]!);
    this.next = (this.next + 1) % Math.max(1, length);
    return turned
      .map((plan) => ({ kind: plan.kind, leaseMs: plan.leaseMs, limit: this.room(plan) }))
      .filter(({ limit }) => limit > 0);
  }

  /** note remembers after a claim which kinds may have more due. */
  note(asked: readonly KindClaim[], limit: number, got: readonly { readonly kind: string }[]): void {
    const counts = new Map<string, number>();
    for (const { kind } of got) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    for (const claim of asked) {
      if (got.length >= limit || (counts.get(claim.kind) ?? 0) >= claim.limit) this.hungry.add(claim.kind);
      else this.hungry.delete(claim.kind);
    }
  }

  release(kind: string): void {
    this.total -= 1;
    this.runningByKind.set(kind, this.runningOf(kind) - 1);
  }

  take(kind: string): void {
    this.total += 1;
    this.runningByKind.set(kind, this.runningOf(kind) + 1);
  }

  private room(plan: KindPlan): number {
    return Math.min(this.free, plan.concurrency - this.runningOf(plan.kind));
  }

  private runningOf(kind: string): number {
    return this.runningByKind.get(kind) ?? 0;
  }
}
