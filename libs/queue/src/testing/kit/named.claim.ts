import { randomUUID } from 'node:crypto';
import type { SqlExecutor } from '@holdfast/kernel';
import type { EncodedRequest } from '../../domain/request.js';
import type { ClaimedJob } from '../../ports/job-store.js';
import { claimedJob } from '../../postgres/job.row.js';
import { claimNamedJob } from '../../postgres/sql/claim-named-job.sql.js';
import type { KindPlan } from '../../runner/kind.plan.js';
import { KitError } from './kit.errors.js';
import type { TestedQueue } from './tested.queue.js';

/** NamedClaim claims the very job that a test is about, whoever else looks for work. */
export class NamedClaim {
  constructor(
    private readonly queue: TestedQueue,
    private readonly plan: KindPlan,
  ) {}

  /** again claims a job that has come back, due or not; undefined when it is not PENDING. */
  again(id: string): Promise<ClaimedJob | undefined> {
    return this.claim(this.queue.connections, id, null);
  }

  /** fresh enqueues a job and claims it in one transaction, so that no runner sees it in between. Throws KitError when its key is taken. */
  fresh(request: EncodedRequest, attempt: number | null): Promise<ClaimedJob> {
    const { connections, store } = this.queue;
    return connections.transaction(async (executor) => {
      const { disposition, id } = await store.enqueue(request, executor);
      const claimed = disposition === 'created' ? await this.claim(executor, id, attempt) : undefined;
      if (claimed) return claimed;
      throw new KitError(
        `A live job or request of ${request.kind} has the key ${String(request.dedupeKey)} already: run that with drain(app), or give another key.`,
      );
    });
  }

  private async claim(executor: SqlExecutor, id: string, attempt: number | null): Promise<ClaimedJob | undefined> {
    const { leaseMs } = this.plan;
    const token = randomUUID();
    const params = { attempt, id, leaseMs, owner: 'holdfast-testing', token };
    const { rows } = await claimNamedJob.run(executor, this.queue.options.schema, params);
    return rows[0] && claimedJob(rows[0], token, leaseMs);
  }
}
