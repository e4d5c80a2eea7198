import {
  sqlStateOf,
  TransactionEndedError,
  type BoundStatement,
  type OpenTransaction,
  type SchemaName,
} from '@holdfast/kernel';
import type { Lease } from '../domain/lease.js';
import type { Completion } from '../domain/settlement.js';
import { LeaseLostError } from '../errors/lease-lost.error.js';
import type { LeasedCompletion } from '../ports/job-store.js';
import { boundedDelay } from './settlement.document.js';
import { completeGroup } from './sql/complete-group.sql.js';
import { completeRun } from './sql/complete-run.sql.js';
import { repeatRun } from './sql/repeat-run.sql.js';

const LEASE_LOST = 'HF001';
const OTHER_TRANSACTION = 'HF002';

/** RunFences sends the fenced completion of one run, or of several, together with the COMMIT of the transaction that they were made in (R2). */
export class RunFences {
  constructor(private readonly schema: SchemaName) {}

  async commit(transaction: OpenTransaction, lease: Lease, completion: Completion): Promise<void> {
    const { outcome } = completion;
    const fence =
      completion.verb === 'complete'
        ? completeRun.bind(this.schema, { ...lease, outcome })
        : repeatRun.bind(this.schema, { ...lease, delayMs: boundedDelay(completion.delayMs), outcome });
    await send(transaction, fence, [lease.jobId]);
  }

  async commitGroup(transaction: OpenTransaction, mark: string, group: readonly LeasedCompletion[]): Promise<void> {
    const delays = group.map(({ completion }) => ('delayMs' in completion ? boundedDelay(completion.delayMs) : null));
    const outcomes = group.map(({ completion }) => completion.outcome);
    const ids = group.map(({ lease }) => lease.jobId);
    const tokens = group.map(({ lease }) => lease.token);
    const params = { delays: orNull(delays), ids, mark, outcomes: orNull(outcomes), tokens };
    await send(transaction, completeGroup.bind(this.schema, params), ids);
  }
}

function orNull<T>(values: readonly (T | null)[]): readonly (T | null)[] | null {
  return values.some((value) => value !== null) ? values : null;
}

async function send(transaction: OpenTransaction, fence: BoundStatement<unknown>, ids: string[]): Promise<void> {
  try {
    await transaction.commit(fence);
  } catch (error) {
    const state = sqlStateOf(error);
    if (state === LEASE_LOST) throw new LeaseLostError(ids.join(', '), { cause: error });
    if (state === OTHER_TRANSACTION) throw new TransactionEndedError();
    throw error;
  }
}
