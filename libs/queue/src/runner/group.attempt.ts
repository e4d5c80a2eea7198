import type { Counts } from '../domain/outcome.js';
import type { Completion } from '../domain/settlement.js';
import type { CommitAnswer } from './commit.answer.js';
import { callAttached, type ExecutionTools } from './execution.js';
import type { GroupMember } from './group.member.js';
import { GroupTransaction } from './group.transaction.js';
import type { Run } from './run.js';
import { workFailure } from './run.transaction.js';

/** Entered is a member whose handler has answered inside the group's transaction. */
interface Entered {
  readonly completion: Completion;
  readonly counts: Counts | undefined;
  readonly member: GroupMember;
}

/** GroupAnswer is what became of a group; `rest` are the members that were not begun, whatever became of the others. */
export type GroupAnswer =
  | { readonly type: 'notBegun'; readonly error: unknown }
  | {
      readonly type: 'ended';
      readonly answers: readonly (Entered & { readonly answer: CommitAnswer })[];
      readonly openMs: number;
      readonly rest: readonly GroupMember[];
    }
  /** Something of it failed, and nothing of it has committed. `by` is the member at which it did, where one can be told. */
  | {
      readonly type: 'failed';
      readonly begun: readonly GroupMember[];
      readonly by: GroupMember | undefined;
      readonly error: unknown;
      readonly rest: readonly GroupMember[];
    };

/** Refused says that a member's answer was a refusal: what it wrote must not commit (R12). */
const REFUSED = new Error(
  'A member of the group was refused: its writes are rolled back, and so are those of the group.',
);

/** GroupAttempt runs members one after another in one transaction, and commits them together (R21). It undoes nothing of one member alone: it has no savepoints. */
export class GroupAttempt {
  private readonly entered: Entered[] = [];
  private rest: readonly GroupMember[];

  constructor(
    private readonly members: readonly GroupMember[],
    private readonly tools: ExecutionTools,
  ) {
    this.rest = members;
  }

  async perform(): Promise<GroupAnswer> {
    const runs: Run[] = this.members.map(({ run }) => run);
    let transaction: GroupTransaction;
    const startedAt = performance.now();
    try {
      transaction = await GroupTransaction.begin(runs, this.tools);
    } catch (error) {
      return { type: 'notBegun', error };
    }
    let by: GroupMember | undefined;
    try {
      for (let next = this.nextOf(transaction); next; next = this.nextOf(transaction)) {
        // What the one before left undone is found here, and is not this one's failure.
        await transaction.enter(next.run);
        by = next;
        await this.enter(transaction, next);
      }
    } catch (thrown) {
      const error = transaction.stoppedBy ?? workFailure(transaction.open, thrown).error;
      await transaction.rollback();
      return this.failed(error, this.members.find(({ run }) => run.stoppedBy) ?? by);
    }
    if (this.entered.length === 0) {
      await transaction.rollback();
      return { type: 'ended', answers: [], openMs: 0, rest: this.rest };
    }
    const completions = this.entered.map(({ completion, member: { run } }) => ({ completion, lease: run.lease }));
    const answers = await transaction.commit(completions);
    const [first] = answers as [CommitAnswer];
    if (first.type === 'failed' && answers.every(({ type }) => type === 'failed'))
      return this.failed(first.error, undefined);
    return {
      type: 'ended',
      answers: this.entered.map((one, index) => ({ ...one, answer: answers[index]! })),
      openMs: performance.now() - startedAt,
      rest: this.rest,
    };
  }

  private async enter(transaction: GroupTransaction, member: GroupMember): Promise<void> {
    const { job, run } = member;
    this.rest = this.rest.slice(1);
    run.startTimeout();
    try {
      const answer = await callAttached(run, job, transaction.open, this.tools);
      if (answer.type === 'refusal') throw REFUSED;
      this.entered.push({ completion: answer.completion, counts: answer.counts, member });
    } finally {
      run.stopClock();
    }
  }

  private failed(error: unknown, by: GroupMember | undefined): GroupAnswer {
    const begun = this.members.slice(0, this.members.length - this.rest.length);
    return { type: 'failed', begun, by, error, rest: this.rest };
  }

  /** nextOf answers who enters next: nobody once the group is to end here, because of its time, or of what the last member has left for the next one to find. */
  private nextOf(transaction: GroupTransaction): GroupMember | undefined {
    if (transaction.stoppedBy) throw transaction.stoppedBy;
    const [next] = this.rest;
    if (!next || next.run.stoppedBy || !transaction.hasTimeFor(next.run)) return undefined;
    if (this.entered.length > 0 && transaction.open.lingers) return undefined;
    return next;
  }
}
