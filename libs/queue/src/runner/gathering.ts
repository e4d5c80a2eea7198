import { startTimer, type Timer } from '@holdfast/kernel';
import type { FailureJudge } from './failure.judge.js';
import type { GroupMember } from './group.member.js';
import type { GroupedPlan } from './kind.plan.js';
import type { RunEnd } from './run.end.js';

/** GatheringParts are what a gathering works with. */
export interface GatheringParts {
  readonly judge: FailureJudge;
  readonly plan: GroupedPlan;
  /** together tells whether two members may be in one group. Default all may. */
  readonly together?: (first: GroupMember, other: GroupMember) => boolean;
  /** work runs a group and ends its members, or hands them back. What it throws ends those that are left as failed. */
  readonly work: (members: readonly GroupMember[]) => Promise<void>;
}

/**
 * Gathering collects the runs of a kind that share transactions, and lets them go in groups, as many at once as there are lanes (R21).
 *
 * What waits when a lane becomes free goes together, at most `size`, once the first has waited for `delay`, or once nobody else can come. A member that is aborted, or
 * short of its lease, while it waits ends without having begun.
 */
export class Gathering {
  private closing = false;
  private inGroups = 0;
  private lanes = 0;
  private readonly since = new Map<GroupMember, number>();
  private timer: Timer | undefined;
  private waiting: GroupMember[] = [];

  constructor(private readonly parts: GatheringParts) {}

  /** isFull: no more can come, or need to, than wait now. */
  private get isFull(): boolean {
    const { concurrency, group } = this.parts.plan;
    const { length } = this.waiting;
    return length >= group.size || length + this.inGroups >= concurrency;
  }

  add(member: GroupMember): void {
    this.since.set(member, performance.now());
    this.waiting.push(member);
    member.run.signal.addEventListener('abort', this.look, { once: true });
    // What was claimed together goes together.
    setImmediate(this.look);
  }

  /** close waits for no more members from now on: what is at hand goes (R17). */
  close(): void {
    this.closing = true;
    this.look();
  }

  end(member: GroupMember, end: RunEnd): void {
    this.since.delete(member);
    member.run.signal.removeEventListener('abort', this.look);
    member.end(end);
  }

  /** goesOn answers whether a member does; one whose signal was aborted is ended. */
  goesOn(member: GroupMember): boolean {
    const { stoppedBy } = member.run;
    if (stoppedBy) this.end(member, this.parts.judge.stopped(member.run, stoppedBy));
    return !stoppedBy;
  }

  /** handBack puts members of a group first in line again: they have waited longest. */
  handBack(members: readonly GroupMember[]): void {
    this.waiting.unshift(...members);
  }

  private async lane(members: readonly GroupMember[]): Promise<void> {
    this.lanes += 1;
    this.inGroups += members.length;
    try {
      await this.parts.work(members);
    } catch (error) {
      // A mistake of ours, or of a store, leaves nobody waiting for ever.
      const left = members.filter((member) => this.since.has(member) && !this.waiting.includes(member));
      for (const member of left) this.end(member, this.parts.judge.failed(member.run, error));
    }
    this.lanes -= 1;
    this.inGroups -= members.length;
    this.look();
  }

  /** look starts groups, as many as there are lanes for, and arms the timer for the next. */
  private readonly look = (): void => {
    const { group } = this.parts.plan;
    this.timer?.clear();
    this.timer = undefined;
    this.sortOut();
    while (this.waiting.length > 0 && this.lanes < group.lanes) {
      const dueInMs = this.since.get(this.waiting[0]!)! + group.delayMs - performance.now();
      if (dueInMs > 0 && !this.isFull && !this.closing) {
        this.timer = startTimer(dueInMs, this.look);
        return;
      }
      void this.lane(this.take());
    }
  };

  /** sortOut ends those that may not start any more. */
  private sortOut(): void {
    this.waiting = this.waiting.filter((member) => {
      if (!this.goesOn(member)) return false;
      if (member.run.mayStart) return true;
      this.end(member, this.parts.judge.shortOfLease());
      return false;
    });
  }

  private take(): GroupMember[] {
    const { plan, together = () => true } = this.parts;
    const [first] = this.waiting as [GroupMember];
    const taken = this.waiting.filter((member) => together(first, member)).slice(0, plan.group.size);
    const gone = new Set(taken);
    this.waiting = this.waiting.filter((member) => !gone.has(member));
    return taken;
  }
}
