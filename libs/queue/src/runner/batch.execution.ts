import { BatchAttempt, type BatchAnswer } from './batch.attempt.js';
import { withReruns, type ExecutionTools } from './execution.js';
import { Gathering } from './gathering.js';
import { gathered, settleAnswers, type SharedExecution, stillHeld } from './group.execution.js';
import type { GroupMember } from './group.member.js';
import type { GroupedPlan } from './kind.plan.js';
import type { Run } from './run.js';
import type { AttemptEnd, RunEnd } from './run.end.js';

/**
 * BatchExecution runs many jobs of one kind and one tenant by one call of their handler, in one transaction (R21).
 *
 * Jobs that the handler answers with a refusal or an error are recorded alone, after a rollback, and the others run again without them. A call that fails as a
 * whole (it throws, is out of time, its commit fails) is made again for each job by itself, on renewed leases and with no attempt spent. A suspect
 * runs by itself at once (Q12).
 */
export class BatchExecution implements SharedExecution {
  private readonly gathering: Gathering;

  constructor(
    private readonly plan: GroupedPlan,
    private readonly tools: ExecutionTools,
  ) {
    this.gathering = new Gathering({
      judge: tools.judge,
      plan,
      together: (first, other) => first === other || (scopeOf(first) === scopeOf(other) && !isSuspect(first, other)),
      work: (members) => this.work(members),
    });
  }

  close(): void {
    this.gathering.close();
  }

  execute(run: Run): Promise<RunEnd> {
    return gathered(run, this.gathering, this.tools);
  }

  /** again makes a new batch of members that are to run once more: their lease has been renewed, and they are first in line. */
  private async again(members: readonly GroupMember[], error: unknown): Promise<void> {
    this.gathering.handBack(await stillHeld(members, this.gathering, this.tools, error));
  }

  private async alone({ job, run, end }: GroupMember): Promise<RunEnd> {
    const { judge } = this.tools;
    return withReruns(run, this.tools, async () => {
      if (!run.mayStart) return judge.shortOfLease();
      const member: GroupMember = { end, job, run };
      return this.endOf(member, await new BatchAttempt([member], this.tools).perform());
    });
  }

  private endOf(member: GroupMember, answer: BatchAnswer): AttemptEnd {
    const { judge } = this.tools;
    const { run } = member;
    if (answer.type === 'notBegun') return judge.notBegun(run, answer.error);
    if (answer.type === 'parted') return answer.ends.get(member)!;
    if (answer.type === 'ended') {
      const [{ answer: committed, completion, counts }] = answer.answers as [(typeof answer.answers)[number]];
      if (committed.type === 'committed') return { type: 'committed', completion, counts };
      if (committed.type === 'lost') return committed;
      return judge.failed(run, committed.error, committed.connectionLost);
    }
    if (run.stoppedBy) return judge.stopped(run, run.stoppedBy);
    if (answer.transient) return { type: 'rerun', error: answer.error };
    return judge.failed(run, answer.error, answer.connectionLost);
  }

  private async runSingly(members: readonly GroupMember[]): Promise<void> {
    for (const member of members)
      if (this.gathering.goesOn(member)) this.gathering.end(member, await this.alone(member));
  }

  private tell(members: readonly GroupMember[], error: unknown, by: GroupMember | undefined): void {
    const { kind } = this.plan;
    this.tools.reporter.report({ type: 'group.rerun', by: by?.run.ref, error, kind, members: members.length });
  }

  private async work(members: readonly GroupMember[]): Promise<void> {
    const { judge } = this.tools;
    if (members.length === 1) return this.runSingly(members);
    const answer = await new BatchAttempt(members, this.tools).perform();
    if (answer.type === 'notBegun') {
      for (const member of members) this.gathering.end(member, judge.notBegun(member.run, answer.error));
    } else if (answer.type === 'ended') {
      const unsure = settleAnswers(answer.answers, this.gathering, this.tools, answer.openMs);
      await this.again(
        unsure.map(({ member }) => member),
        unsure[0]?.error,
      );
    } else if (answer.type === 'parted') {
      const [by] = [...answer.ends.keys()];
      if (answer.rest.length > 0) this.tell(answer.rest, undefined, by);
      for (const [member, end] of answer.ends) this.gathering.end(member, end);
      await this.again(answer.rest, undefined);
    } else {
      this.tell(
        members,
        answer.error,
        members.find(({ run }) => run.stoppedBy),
      );
      // Where one was stopped the others are not to blame, and may go together again.
      if (members.some(({ run }) => run.stoppedBy)) await this.again(members, answer.error);
      else await this.runSingly(await stillHeld(members, this.gathering, this.tools, answer.error));
    }
  }
}

function isSuspect(...members: readonly GroupMember[]): boolean {
  return members.some(({ run }) => run.claimed.suspect);
}

function scopeOf({ run }: GroupMember): string | null {
  return run.claimed.tenantId;
}
