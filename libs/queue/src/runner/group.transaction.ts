import { randomUUID } from 'node:crypto';
import { CommitUnknownError, type OpenTransaction } from '@holdfast/kernel';
import type { LeasedCompletion } from '../ports/job-store.js';
import { answerOf, type CommitAnswer } from './commit.answer.js';
import type { ExecutionTools } from './execution.js';
import type { Run } from './run.js';
import { scopeOf } from './run.transaction.js';

/**
 * GroupTransaction is one transaction in which several runs are made, one after another (R21).
 *
 * Each has a part of its own: its scope, its handle, its constraints checked when the next one begins. The signal of each destroys it until the fence is sent, and
 * only the fence of all of them commits it.
 */
export class GroupTransaction {
  private readonly controller = new AbortController();
  private readonly runs: Run[] = [];
  private stopped: Error | undefined;

  private constructor(
    readonly open: OpenTransaction,
    private readonly tools: ExecutionTools,
    private readonly mark: string,
    private readonly endsAt: number,
  ) {}

  /** begin opens one that outlasts the timeout of the first, and no lease of all who may enter. */
  static async begin(runs: readonly Run[], tools: ExecutionTools): Promise<GroupTransaction> {
    const [first] = runs as readonly [Run];
    const mark = randomUUID();
    const { settings, tenantId } = scopeOf(first, tools);
    let endsAt = 0;
    const open = await tools.database.begin({
      boundMs: () => {
        const boundMs = Math.max(first.plan.startNeedsMs, Math.min(...runs.map(({ leaseLeftMs }) => leaseLeftMs)));
        endsAt = performance.now() + boundMs;
        return boundMs;
      },
      isolation: first.plan.entry.definition.isolation,
      settings: { ...settings, 'holdfast.run': mark },
      shared: true,
      tenantId,
    });
    return new GroupTransaction(open, tools, mark, endsAt);
  }

  /** signal aborts when it is destroyed. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** stoppedBy is why it was destroyed, or undefined. */
  get stoppedBy(): Error | undefined {
    return this.stopped;
  }

  /** commit sends the fence of all runs with COMMIT, and answers for each what became of it; an answer that was lost is looked up (R3). It never rejects. */
  async commit(group: readonly LeasedCompletion[]): Promise<CommitAnswer[]> {
    try {
      await this.tools.store.completeGroupIn(this.open, this.mark, group);
      return this.runs.map(() => ({ type: 'committed' }));
    } catch (error) {
      if (error instanceof CommitUnknownError)
        return await Promise.all(this.runs.map((run) => answerOf(run, this.tools.store, error)));
      const failed = { type: 'failed', connectionLost: this.open.lost !== undefined, error } as const;
      await this.open.rollback();
      return this.runs.map(() => failed);
    } finally {
      this.release();
    }
  }

  /** enterAll puts runs of one scope into the first part together; the signal of each destroys the transaction. */
  enterAll(runs: readonly Run[]): void {
    for (const run of runs) this.join(run);
  }

  /** enter begins the part of a run; from then on its signal destroys the transaction. It rejects with what the part before left undone. */
  async enter(run: Run): Promise<void> {
    if (this.runs.length > 0) await this.open.next(scopeOf(run, this.tools));
    this.join(run);
  }

  /** hasTimeFor tells whether a whole timeout of this run fits what is left of the transaction and of each lease in it (Q13). */
  hasTimeFor(run: Run): boolean {
    const { startNeedsMs, timeoutMs } = run.plan;
    return (
      this.endsAt - performance.now() >= timeoutMs &&
      [...this.runs, run].every(({ leaseLeftMs }) => leaseLeftMs >= startNeedsMs)
    );
  }

  async rollback(): Promise<void> {
    this.release();
    await this.open.rollback();
  }

  /** stop destroys it, unless its fence has been sent. */
  stop(reason: Error): void {
    if (!this.open.destroy(reason)) return;
    this.stopped = reason;
    this.controller.abort(reason);
  }

  private readonly destroy = () => {
    const by = this.runs.find(({ stoppedBy }) => stoppedBy !== undefined);
    if (by?.stoppedBy) this.stop(by.stoppedBy);
  };

  private join(run: Run): void {
    this.runs.push(run);
    run.signal.addEventListener('abort', this.destroy, { once: true });
    if (run.signal.aborted) this.destroy();
  }

  private release(): void {
    for (const run of this.runs) run.signal.removeEventListener('abort', this.destroy);
  }
}
