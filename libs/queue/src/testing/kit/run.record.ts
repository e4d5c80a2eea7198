import type { SqlExecutor } from '@holdfast/kernel';
import type { OpenTransaction } from '@holdfast/kernel';
import type { JobStateName } from '../../domain/job-state.js';
import type { Outcome } from '../../domain/outcome.js';
import type { Completion, Settlement } from '../../domain/settlement.js';
import type { Intercepting, JobAnswer } from '../../handlers/job.interceptor.js';
import type { AnyJobDefinition } from '../../domain/definition.js';
import type { JobStore, LeasedSettlement } from '../../ports/job-store.js';
import { type EnqueuedJob, enqueuedJobs } from './enqueued.job.js';
import type { TestedQueue } from './tested.queue.js';

const STATES: Readonly<Record<Settlement['verb'], JobStateName>> = {
  bury: 'DEAD_LETTER',
  cancel: 'CANCELLED',
  complete: 'SUCCEEDED',
  defer: 'PENDING',
  giveBack: 'PENDING',
  lose: 'PENDING',
  refuse: 'FAILED',
  repeat: 'PENDING',
  retry: 'PENDING',
};

/**
 * RunRecord sees one run from both sides: what its handler answers, by an interceptor outside all others, and how it is settled, at the store.
 *
 * On a trial nothing is settled: the transaction is rolled back where it would have been committed, after its deferred constraints were checked.
 */
export class RunRecord {
  /** enqueued is what its transaction has enqueued. */
  enqueued: readonly EnqueuedJob[] = [];
  private answer: JobAnswer | undefined;
  private settlement: Settlement | undefined;

  constructor(
    private readonly queue: TestedQueue,
    private readonly trial: boolean,
  ) {}

  /** changes are what the store does differently. */
  get changes(): Partial<JobStore> {
    return {
      completeIn: async (transaction, lease, completion) => {
        if (transaction.state === 'open') this.enqueued = await this.enqueuedIn(transaction, lease.jobId);
        if (this.trial && transaction.state === 'open') await rolledBack(transaction);
        // What cannot be committed any more is refused by the store as always.
        else await this.queue.store.completeIn(transaction, lease, completion);
        this.settlement = completion;
      },
      settle: async (settlements: readonly LeasedSettlement[]) => {
        this.settlement = settlements[0]?.settlement;
        return this.trial ? settlements.map(() => true) : this.queue.store.settle(settlements);
      },
    };
  }

  /** interceptor has to stand outside all others. */
  get interceptor(): Intercepting<AnyJobDefinition> {
    return {
      intercept: async (_call, next) => {
        this.answer = undefined;
        return (this.answer = await next());
      },
    };
  }

  /** outcome is what the run ended with, where it ended with one: the handler's answer, also that of its `ctx.finish`. */
  get outcome(): Outcome | undefined {
    const { answer, settlement } = this;
    const ends = settlement && ['complete', 'refuse', 'repeat'].includes(settlement.verb);
    if (!ends) return undefined;
    return answer && answer.type !== 'finished' ? answer : outcomeOf(settlement);
  }

  /** state is the one that the settlement leads to. */
  get state(): JobStateName {
    return this.settlement ? STATES[this.settlement.verb] : 'PENDING';
  }

  /** What others commit meanwhile is seen from outside as well, and is not of this transaction. */
  private async enqueuedIn({ transaction }: OpenTransaction, id: string): Promise<EnqueuedJob[]> {
    const { connections, options } = this.queue;
    const seen = (executor: SqlExecutor) => enqueuedJobs(executor, options.schema, { afterId: id });
    const inside = await seen(transaction.sql);
    if (inside.length === 0) return inside;
    const outside = new Set((await seen(connections)).map((job) => job.id));
    return inside.filter((job) => !outside.has(job.id));
  }
}

function outcomeOf(settlement: Completion | Settlement): Outcome | undefined {
  switch (settlement.verb) {
    case 'complete':
      return { type: 'done', ...(settlement.outcome === null ? {} : { outcome: settlement.outcome }) };
    case 'repeat':
      return {
        type: 'repeat',
        after: `${settlement.delayMs}ms`,
        ...(settlement.outcome === null ? {} : { outcome: settlement.outcome }),
      };
    case 'refuse':
      return { type: 'refuse', code: settlement.code, ...(settlement.params ? { params: settlement.params } : {}) };
    default:
      return undefined;
  }
}

async function rolledBack(transaction: OpenTransaction): Promise<void> {
  try {
    await transaction.transaction.sql.query('SET CONSTRAINTS ALL IMMEDIATE', []);
  } finally {
    await transaction.rollback();
  }
}
