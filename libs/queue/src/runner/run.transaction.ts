import {
  CommitUnknownError,
  isConnectionLost,
  isSerializationFailure,
  runInTransaction,
  sqlStateOf,
  type OpenTransaction,
  type PartScope,
} from '@holdfast/kernel';
import type { Completion } from '../domain/settlement.js';
import { LeaseLostError } from '../errors/lease-lost.error.js';
import { answerOf, type CommitAnswer } from './commit.answer.js';
import type { ExecutionTools } from './execution.js';
import type { Run } from './run.js';

const IN_FAILED_TRANSACTION = '25P02';

/** WorkFailure is what went wrong inside a transaction, seen before it was rolled back. */
export interface WorkFailure {
  readonly connectionLost: boolean;
  /** error is the first one, where the thrown one only says that the transaction is aborted (K72). */
  readonly error: unknown;
  /** transient: a serialization failure or a deadlock took the transaction (R9). */
  readonly transient: boolean;
}

/** workFailure answers what went wrong inside a transaction that is still to be rolled back. */
export function workFailure({ firstError, lost, state }: OpenTransaction, thrown: unknown): WorkFailure {
  const masked = firstError !== undefined && sqlStateOf(thrown) === IN_FAILED_TRANSACTION;
  const transient =
    isSerializationFailure(thrown) ||
    (state === 'aborted' && firstError !== undefined && isSerializationFailure(firstError));
  // What the driver says of a lost connection has many forms; the recorded one is ours (K14).
  const error = lost !== undefined && isConnectionLost(thrown) ? lost : masked ? firstError : thrown;
  return { connectionLost: lost !== undefined, error, transient };
}

/** scopeOf is the scope that a run's transaction is under: its job's tenant, or the system (T1). */
export function scopeOf(run: Run, { options: { tenancySetting } }: ExecutionTools): Required<PartScope> {
  const { tenantId } = run.claimed;
  return { settings: tenancySetting === undefined ? {} : { [tenancySetting]: tenantId ?? '' }, tenantId };
}

/** RunTransaction is a transaction that a run has opened: its signal destroys it, and only the fenced completion commits it (R1, R2). */
export class RunTransaction {
  private constructor(
    readonly open: OpenTransaction,
    private readonly run: Run,
    private readonly tools: ExecutionTools,
    private readonly outlastsShutdown: boolean,
  ) {
    run.signal.addEventListener('abort', this.destroy, { once: true });
    if (run.signal.aborted) this.destroy();
  }

  /** adopt takes over a transaction that the handler opened itself (R22). */
  static adopt(open: OpenTransaction, run: Run, tools: ExecutionTools): RunTransaction {
    return new RunTransaction(open, run, tools, true);
  }

  /**
   * begin opens one under the job's tenant, with the mark that the fence looks for, bounded at the server.
   * With `outlastsShutdown` a shutdown's abort does not destroy it: the outside call has been made, its result is worth keeping.
   */
  static async begin(
    run: Run,
    tools: ExecutionTools,
    boundMs: number,
    outlastsShutdown = false,
  ): Promise<RunTransaction> {
    const { settings, tenantId } = scopeOf(run, tools);
    const { isolation } = run.plan.entry.definition;
    const marked = { ...settings, 'holdfast.run': run.lease.token };
    const open = await tools.database.begin({ boundMs, isolation, settings: marked, tenantId });
    return new RunTransaction(open, run, tools, outlastsShutdown);
  }

  /** commit sends the fenced completion with COMMIT; an answer that was lost is looked up (R3). It never rejects. */
  async commit(completion: Completion): Promise<CommitAnswer> {
    try {
      await this.tools.store.completeIn(this.open, this.run.lease, completion);
      return { type: 'committed' };
    } catch (error) {
      if (error instanceof LeaseLostError) return { type: 'lost', error };
      if (error instanceof CommitUnknownError) return await answerOf(this.run, this.tools.store, error);
      return { type: 'failed', connectionLost: this.open.lost !== undefined && isConnectionLost(error), error };
    } finally {
      this.run.signal.removeEventListener('abort', this.destroy);
    }
  }

  /** fail rolls back and answers what went wrong. */
  async fail(thrown: unknown): Promise<WorkFailure> {
    const failure = workFailure(this.open, thrown);
    await this.rollback();
    return failure;
  }

  /** perform calls application code with this transaction as the ambient one. */
  perform<T>(work: () => Promise<T>): Promise<T> {
    return runInTransaction(this.tools.database.identity, this.open.transaction, work);
  }

  async rollback(): Promise<void> {
    this.run.signal.removeEventListener('abort', this.destroy);
    await this.open.rollback();
  }

  private readonly destroy = () => {
    if (this.outlastsShutdown && this.run.mayFinish) return;
    this.open.destroy(this.run.stoppedBy ?? new LeaseLostError(this.run.ref.id));
  };
}
