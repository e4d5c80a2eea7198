import { jobStateName } from '../domain/job-state.js';
import { describeJobStore } from '../testing/job-store.contract.js';
import type { InspectedJob, JobStoreHarness } from '../testing/job-store.harness.js';
import type { MemoryJob } from './memory.job.js';
import { MemoryJobStore } from './memory.job-store.js';

function inspected(job: MemoryJob): InspectedJob {
  return {
    attempt: job.attempt,
    deferred: job.deferredSince !== null,
    dueInMs: job.dueAt - Date.now(),
    errorCode: job.errorCode,
    failures: job.failures,
    id: job.id,
    leaseToken: job.lease?.token ?? null,
    losses: job.losses,
    outcome: job.outcome,
    payload: JSON.parse(job.payloadJson) as unknown,
    progress: job.progress,
    refusal: job.refusal,
    state: jobStateName(job.state),
    suspect: job.suspect,
  };
}

function memoryHarness(): Promise<JobStoreHarness> {
  const store = new MemoryJobStore();
  return Promise.resolve({
    another: () => new MemoryJobStore(store.table),
    clear: () => Promise.resolve(store.table.clear()),
    close: () => store.close(),
    inspect: () => Promise.resolve([...store.table.jobs.values()].map(inspected)),
    store,
  });
}

describeJobStore('MemoryJobStore', memoryHarness, { transactions: false });

it('architecture: a store without transactions says so instead of pretending', async () => {
  await expect(new MemoryJobStore().completeIn()).rejects.toThrow('detached handlers, or PostgreSQL');
});
