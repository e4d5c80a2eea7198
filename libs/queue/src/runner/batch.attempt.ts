import { isSerializationFailure, runInTransaction, startTimer } from '@holdfast/kernel';
import type { Counts } from '../domain/outcome.js';
import type { Completion } from '../domain/settlement.js';
import { TimedOutError } from '../errors/timed-out.error.js';
import type { BatchResult } from '../handlers/batch.results.js';
import type { BatchContext } from '../handlers/handler.interface.js';
import { holdRun, untilAborted, type ExecutionTools } from './execution.js';
import type { GroupAnswer } from './group.attempt.js';
import type { GroupMember } from './group.member.js';
import { GroupTransaction } from './group.transaction.js';
import { callBatch } from './handler.call.js';
import { readOutcome } from './outcome.reading.js';
import type { RunEnd } from './run.end.js';
import { workFailure, type WorkFailure } from './run.transaction.js';
import { LeaseLostError } from '../errors/lease-lost.error.js';

/** Parted is a batch of which some jobs have ended otherwise than done or to be repeated: nothing has committed, and the rest runs again without them. */
interface Parted {
  readonly type: 'parted';
  readonly ends: ReadonlyMap<GroupMember, RunEnd>;
  readonly rest: readonly GroupMember[];
}

/** BatchAnswer is what became of one call of a batch handler. */
export type BatchAnswer =
  | Extract<GroupAnswer, { type: 'ended' | 'notBegun' }>
  | Parted
  /** As a whole; nothing of it has committed. */
  | ({ readonly type: 'failed' } & WorkFailure);

interface Completed {
  readonly completion: Completion;
  readonly counts: Counts | undefined;
  readonly member: GroupMember;
}

/** BatchAttempt runs jobs by one call of their handler, in one transaction that one fence commits (R21). */
export class BatchAttempt {
  private readonly plan;

  constructor(
    private readonly members: readonly GroupMember[],
    private readonly tools: ExecutionTools,
  ) {
    this.plan = members[0]!.run.plan;
  }

  async perform(): Promise<BatchAnswer> {
    const runs = this.members.map(({ run }) => run);
    const startedAt = performance.now();
    let transaction: GroupTransaction;
    try {
      transaction = await GroupTransaction.begin(runs, this.tools);
    } catch (error) {
      return { type: 'notBegun', error };
    }
    transaction.enterAll(runs);
    let results: readonly BatchResult[];
    try {
      results = await this.call(transaction);
    } catch (thrown) {
      const failure = workFailure(transaction.open, transaction.stoppedBy ?? thrown);
      await transaction.rollback();
      return { ...failure, type: 'failed' };
    }
    const { completed, ends } = this.read(results);
    if (ends.size > 0) {
      await transaction.rollback();
      return { type: 'parted', ends, rest: completed.map(({ member }) => member) };
    }
    const answers = await transaction.commit(
      completed.map(({ completion, member: { run } }) => ({ completion, lease: run.lease })),
    );
    const answered = completed.map((one, index) => ({ ...one, answer: answers[index]! }));
    const [first] = answers;
    if (first?.type === 'failed' && answers.every(({ type }) => type === 'failed'))
      return { ...first, transient: isSerializationFailure(first.error), type: 'failed' };
    return { type: 'ended', answers: answered, openMs: performance.now() - startedAt, rest: [] };
  }

  /** call calls the handler. A batch of one is its job's own attempt, timed by itself; of more, the call is timed, so that no job is aborted for the others. */
  private async call(transaction: GroupTransaction): Promise<readonly BatchResult[]> {
    const { kind, timeoutMs } = this.plan;
    const runs = this.members.map(({ run }) => run);
    const [only] = runs;
    const startedAt = performance.now();
    const timeOut = () =>
      transaction.stop(new TimedOutError(kind, timeoutMs, performance.now() - startedAt - timeoutMs));
    const timer = runs.length > 1 ? startTimer(timeoutMs, timeOut) : undefined;
    for (const run of runs)
      if (timer) run.startClock();
      else run.startTimeout();
    try {
      const answer = this.answer(transaction);
      for (const run of runs) run.call(() => answer).catch(() => undefined);
      return await untilAborted(answer, transaction.signal);
    } finally {
      // The event loop may have been blocked so that no timer could fire (K110).
      if (!timer) only?.noticeTimeout();
      else if (performance.now() - startedAt >= timeoutMs) timeOut();
      timer?.clear();
      for (const run of runs) run.stopClock();
      if (transaction.stoppedBy) throw transaction.stoppedBy;
    }
  }

  private answer(transaction: GroupTransaction): Promise<readonly BatchResult[]> {
    const { database, store } = this.tools;
    const tx = transaction.open.transaction;
    const runs = new Map(this.members.map(({ run }) => [run.ref.id, run]));
    const ctx: BatchContext = {
      hold: async ({ id }) => {
        const run = runs.get(id);
        if (!run) throw new LeaseLostError(id);
        await holdRun(run, store);
      },
      signal: transaction.signal,
      tx,
    };
    const jobs = this.members.map(({ job }) => job);
    return (async () => runInTransaction(database.identity, tx, () => callBatch(this.plan, jobs, ctx)))();
  }

  private read(results: readonly BatchResult[]): { completed: Completed[]; ends: Map<GroupMember, RunEnd> } {
    const completed: Completed[] = [];
    const ends = new Map<GroupMember, RunEnd>();
    for (const [index, member] of this.members.entries()) {
      const result = results[index];
      if (result instanceof Error) {
        ends.set(member, this.tools.judge.failed(member.run, result));
        continue;
      }
      try {
        const read = readOutcome(result);
        if (read.type === 'refusal') ends.set(member, { type: 'record', settlement: read.refusal });
        else completed.push({ completion: read.completion, counts: read.counts, member });
      } catch (error) {
        ends.set(member, this.tools.judge.failed(member.run, error));
      }
    }
    return { completed, ends };
  }
}
