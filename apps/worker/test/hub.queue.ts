import { TENANT_SETTING } from '@holdfast/hub';
import { createQueue, pgPool, type HoldfastQueue, type JobRequest, type JobStatus } from '@holdfast/queue/core';
import { waitFor, type TestDatabase } from '@holdfast/testing';

/** HubQueue is the queue of the hub in the hands of a test: it enqueues what no route would, and sees every tenant's jobs. */
export class HubQueue {
  private readonly queue: HoldfastQueue;

  constructor(database: TestDatabase, connectionString: string) {
    const pool = database.pool({ connectionString, max: 3 });
    this.queue = createQueue({
      database: pgPool(pool),
      migrations: 'off',
      tenancy: { setting: TENANT_SETTING },
    });
  }

  close(): Promise<void> {
    return this.queue.close();
  }

  /** enqueue asks for a job of a tenant, or of the system where it is null, and answers its id. */
  async enqueue(tenantId: string | null, request: JobRequest): Promise<string> {
    const { id } = await this.queue.unitOfWork.run(() => this.queue.jobs.enqueue(request), { tenantId });
    return id;
  }

  /** find answers a job, whoever's it is. */
  async find(id: string): Promise<JobStatus> {
    const job = await this.queue.lookup.find(id);
    if (!job) throw new Error(`There is no job ${id}.`);
    return job;
  }

  /** until answers the job as soon as it is as it should be. */
  async until(id: string, what: string, is: (job: JobStatus) => boolean): Promise<JobStatus> {
    return waitFor(
      async () => {
        const job = await this.queue.lookup.find(id);
        return job && is(job) ? job : undefined;
      },
      { deadlineMs: 60_000, what: `the job to be ${what}` },
    );
  }
}
