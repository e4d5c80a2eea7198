import { LeaseLostError } from '../errors/lease-lost.error.js';
import { AttachedExecution } from './attached.execution.js';
import { readJob, renewRuns, type Execution, type ExecutionTools } from './execution.js';
import { Gathering } from './gathering.js';
import { GroupAttempt, type GroupAnswer } from './group.attempt.js';
import type { GroupMember } from './group.member.js';
import type { GroupedPlan } from './kind.plan.js';
import type { Run } from './run.js';
import type { RunEnd } from './run.end.js';

/** SharedExecution is an execution whose runs share transactions. */
export interface SharedExecution extends Execution {
  /** close waits for no more members: what is at hand goes (R17). */
  close(): void;
}

/**
 * GroupExecution lets small attached runs of one kind share transactions (R21).
 *
 * The group is optimistic: members run one after another in one transaction, and one fence with COMMIT ends them all or none. Whatever fails (a member throws or
 * refuses, is aborted, has lost its lease; the connection, a constraint, the commit) rolls back the group, and those that had begun are run one by one on renewed leases, as
 * if there had been no group, with no attempt spent: the one that fails alone is recorded alone. Those that had not begun wait for the next
 * group. A suspect never shares (Q12).
 */
export class GroupExecution implements SharedExecution {
  private readonly gathering: Gathering;
  private readonly single: AttachedExecution;

  constructor(
    private readonly plan: GroupedPlan,
    private readonly tools: ExecutionTools,
  ) {
    this.gathering = new Gathering({ judge: tools.judge, plan, work: (members) => this.work(members) });
    this.single = new AttachedExecution(tools);
  }

  close(): void {
    this.gathering.close();
  }

  async execute(run: Run): Promise<RunEnd> {
    if (run.claimed.suspect) return this.single.execute(run);
    return gathered(run, this.gathering, this.tools);
  }

  private async work(members: readonly GroupMember[]): Promise<void> {
    const { judge, reporter } = this.tools;
    const [only] = members;
    if (only && members.length === 1) return this.runSingly([only]);
    const answer = await new GroupAttempt(members, this.tools).perform();
    if (answer.type === 'notBegun') {
      for (const member of members) this.gathering.end(member, judge.notBegun(member.run, answer.error));
      return;
    }
    this.gathering.handBack(answer.rest);
    if (answer.type === 'ended') return this.settle(answer);
    const { begun, by, error } = answer;
    reporter.report({ type: 'group.rerun', by: by?.run.ref, error, kind: this.plan.kind, members: begun.length });
    return this.runSingly(await stillHeld(begun, this.gathering, this.tools, error));
  }

  private async runSingly(members: readonly GroupMember[]): Promise<void> {
    for (const member of members)
      if (this.gathering.goesOn(member)) this.gathering.end(member, await this.single.run(member.run, member.job));
  }

  private async settle({ answers, openMs }: Extract<GroupAnswer, { type: 'ended' }>): Promise<void> {
    const unsure = settleAnswers(answers, this.gathering, this.tools, openMs);
    const [first] = unsure;
    if (first)
      await this.runSingly(
        await stillHeld(
          unsure.map(({ member }) => member),
          this.gathering,
          this.tools,
          first.error,
        ),
      );
  }
}

/** gathered reads the job of a run and answers its end, once it has gone with others. */
export async function gathered(run: Run, gathering: Gathering, { judge }: ExecutionTools): Promise<RunEnd> {
  try {
    const job = await readJob(run);
    return await new Promise((end) => gathering.add({ end, job, run }));
  } catch (error) {
    return run.stoppedBy ? judge.stopped(run, run.stoppedBy) : judge.failed(run, error);
  }
}

/** settleAnswers ends the members whose commit has an answer, and answers the others: those that have not committed. */
export function settleAnswers(
  answers: Extract<GroupAnswer, { type: 'ended' }>['answers'],
  gathering: Gathering,
  { reporter }: ExecutionTools,
  openMs: number,
): { readonly error: unknown; readonly member: GroupMember }[] {
  const committed = answers.filter(({ answer }) => answer.type === 'committed');
  const [first] = committed;
  if (first)
    reporter.report({ type: 'group.committed', kind: first.member.run.ref.kind, members: committed.length, openMs });
  const unsure: { error: unknown; member: GroupMember }[] = [];
  for (const { answer, completion, counts, member } of answers) {
    if (answer.type === 'committed') gathering.end(member, { type: 'committed', completion, counts });
    else if (answer.type === 'lost') gathering.end(member, answer);
    else unsure.push({ error: answer.error, member });
  }
  return unsure;
}

/** stillHeld renews the leases of members that are to run again, by one statement, and ends those that are stopped or have lost theirs. */
export async function stillHeld(
  members: readonly GroupMember[],
  gathering: Gathering,
  { store }: ExecutionTools,
  cause: unknown,
): Promise<GroupMember[]> {
  const going = members.filter((member) => gathering.goesOn(member));
  const runs = going.map(({ run }) => run);
  const held = new Set(await renewRuns(runs, store).catch(() => runs));
  return going.filter((member) => {
    const { ref } = member.run;
    if (!held.has(member.run)) gathering.end(member, { type: 'lost', error: new LeaseLostError(ref.id, { cause }) });
    return held.has(member.run);
  });
}
