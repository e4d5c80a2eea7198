import { startTimer, type Timer } from '@holdfast/kernel';
import type { Job } from '../domain/job.js';
import { LeaseLostError } from '../errors/lease-lost.error.js';
import { AttachedExecution } from './attached.execution.js';
import { readJob, renewRuns, type Execution, type ExecutionTools } from './execution.js';
import { GroupAttempt, type GroupAnswer } from './group.attempt.js';
import type { GroupMember } from './group.member.js';
import type { GroupedPlan, GroupPlan } from './kind.plan.js';
import type { Run } from './run.js';
import type { RunEnd } from './run.end.js';

/**
 * GroupExecution lets small attached runs of one kind share transactions (R21).
 *
 * What waits when a lane becomes free goes together, at most `size`, after `delay`; a lane is a connection. The group is optimistic: members run one after another in one
 * transaction, and one fence with COMMIT ends them all or none. Whatever fails (a member throws or refuses, is aborted, has lost its lease; the
 * connection, a constraint, the commit) rolls back the group, and those that had begun are run one by one on renewed leases, as if there had
 * been no group, with no attempt spent: the one that fails alone is recorded alone. Those that had not begun wait for the next group. A suspect never shares (Q12).
 */
export class GroupExecution implements Execution {
  private closing = false;
  private readonly group: GroupPlan;
  private inGroups = 0;
  private lanes = 0;
  private readonly since = new Map<GroupMember, number>();
  private readonly single: AttachedExecution;
  private timer: Timer | undefined;
  private waiting: GroupMember[] = [];

  constructor(
    private readonly plan: GroupedPlan,
    private readonly tools: ExecutionTools,
  ) {
    this.group = plan.group;
    this.single = new AttachedExecution(tools);
  }

  /** close waits for no more members from now on: what is at hand goes (R17). */
  close(): void {
    this.closing = true;
    this.look();
  }

  async execute(run: Run): Promise<RunEnd> {
    if (run.claimed.suspect) return this.single.execute(run);
    let job: Job<never>;
    try {
      job = await readJob(run);
    } catch (error) {
      return run.stoppedBy ? this.tools.judge.stopped(run, run.stoppedBy) : this.tools.judge.failed(run, error);
    }
    return new Promise((end) => {
      const member: GroupMember = { end, job, run };
      this.since.set(member, performance.now());
      this.waiting.push(member);
      run.signal.addEventListener('abort', this.look, { once: true });
      // What was claimed together goes together.
      setImmediate(this.look);
    });
  }

  private end(member: GroupMember, end: RunEnd): void {
    this.since.delete(member);
    member.run.signal.removeEventListener('abort', this.look);
    member.end(end);
  }

  /** isFull: no more can come, or need to, than wait now. */
  private get isFull(): boolean {
    const { length } = this.waiting;
    return length >= this.group.size || length + this.inGroups >= this.plan.concurrency;
  }

  private async lane(members: readonly GroupMember[]): Promise<void> {
    this.lanes += 1;
    this.inGroups += members.length;
    const [only] = members;
    try {
      if (only && members.length === 1) this.end(only, await this.single.run(only.run, only.job));
      else await this.settle(members, await new GroupAttempt(members, this.tools).perform());
    } catch (error) {
      // A mistake of ours, or of a store, leaves nobody waiting for ever.
      const left = members.filter((member) => this.since.has(member) && !this.waiting.includes(member));
      for (const member of left) this.end(member, this.tools.judge.failed(member.run, error));
    }
    this.lanes -= 1;
    this.inGroups -= members.length;
    this.look();
  }

  /** look starts groups, as many as there are lanes for, and arms the timer for the next. */
  private readonly look = (): void => {
    this.timer?.clear();
    this.timer = undefined;
    this.sortOut();
    while (this.waiting.length > 0 && this.lanes < this.group.lanes) {
      const dueInMs = this.since.get(this.waiting[0]!)! + this.group.delayMs - performance.now();
      if (dueInMs > 0 && !this.isFull && !this.closing) {
        this.timer = startTimer(dueInMs, this.look);
        return;
      }
      void this.lane(this.waiting.splice(0, this.group.size));
    }
  };

  private async runSingly(members: readonly GroupMember[], error: unknown): Promise<void> {
    const going = members.filter((member) => this.stopped(member));
    const runs = going.map(({ run }) => run);
    const held = new Set(await renewRuns(runs, this.tools.store).catch(() => runs));
    for (const member of going) {
      const { job, run } = member;
      if (!held.has(run)) this.end(member, { type: 'lost', error: new LeaseLostError(run.ref.id, { cause: error }) });
      else if (this.stopped(member)) this.end(member, await this.single.run(run, job));
    }
  }

  private async settle(members: readonly GroupMember[], answer: GroupAnswer): Promise<void> {
    const { judge, reporter } = this.tools;
    const { kind } = this.plan;
    if (answer.type === 'notBegun') {
      for (const member of members) this.end(member, judge.notBegun(member.run, answer.error));
      return;
    }
    // The rest is first in line: it has waited longest.
    this.waiting.unshift(...answer.rest);
    this.inGroups -= answer.rest.length;
    if (answer.type === 'ended') {
      await this.settleAnswers(answer);
    } else {
      const { begun, by, error } = answer;
      reporter.report({ type: 'group.rerun', by: by?.run.ref, error, kind, members: begun.length });
      await this.runSingly(begun, error);
    }
    this.inGroups += answer.rest.length;
  }

  private async settleAnswers({ answers, openMs }: Extract<GroupAnswer, { type: 'ended' }>): Promise<void> {
    const committed = answers.filter(({ answer }) => answer.type === 'committed');
    const { kind } = this.plan;
    if (committed.length > 0)
      this.tools.reporter.report({ type: 'group.committed', kind, members: committed.length, openMs });
    for (const { answer, completion, counts, member } of answers) {
      if (answer.type === 'committed') this.end(member, { type: 'committed', completion, counts });
      if (answer.type === 'lost') this.end(member, answer);
    }
    const unsure = answers.flatMap(({ answer, member }) => (answer.type === 'failed' ? [{ answer, member }] : []));
    if (unsure.length > 0)
      await this.runSingly(
        unsure.map(({ member }) => member),
        unsure[0]!.answer.error,
      );
  }

  /** sortOut ends those that may not start any more. */
  private sortOut(): void {
    this.waiting = this.waiting.filter((member) => {
      if (!this.stopped(member)) return false;
      if (member.run.mayStart) return true;
      this.end(member, this.tools.judge.shortOfLease());
      return false;
    });
  }

  /** stopped ends a member whose signal was aborted; it answers whether the member goes on. */
  private stopped(member: GroupMember): boolean {
    const { stoppedBy } = member.run;
    if (stoppedBy) this.end(member, this.tools.judge.stopped(member.run, stoppedBy));
    return !stoppedBy;
  }
}
