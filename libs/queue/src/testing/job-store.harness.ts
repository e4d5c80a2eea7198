import { randomUUID } from 'node:crypto';
import type { BeginOptions, OpenTransaction, SqlExecutor, Transaction } from '@holdfast/kernel';
import type { FailureRecord } from '../domain/failure.js';
import type { JobStateName } from '../domain/job-state.js';
import type { EncodedRequest, Enqueued } from '../domain/request.js';
import type { Settlement } from '../domain/settlement.js';
import type { ClaimedJob, ClaimOrder, JobStore, SettleAnswer } from '../ports/job-store.js';

/** InspectedJob is a job as the contract suite looks at it, beside the store. */
export interface InspectedJob {
  readonly attempt: number;
  readonly deferred: boolean;
  /** dueInMs is negative for a moment that has passed. */
  readonly dueInMs: number;
  readonly errorCode: string | null;
  readonly failures: readonly (FailureRecord & { readonly at: string })[];
  readonly id: string;
  readonly leaseToken: string | null;
  readonly losses: number;
  readonly outcome: string | null;
  readonly payload: unknown;
  /** progress is what its last run has reported, or null (R15). */
  readonly progress: number | null;
  readonly refusal: unknown;
  readonly state: JobStateName;
  readonly suspect: boolean;
}

/** JobStoreHarness is a store and what the contract suite needs beside it. */
export interface JobStoreHarness {
  /** another answers a store of another process on the same jobs. The suite closes it. */
  another(): JobStore;
  /** clear removes all jobs. */
  clear(): Promise<void>;
  /** close ends everything. */
  close(): Promise<void>;
  inspect(): Promise<InspectedJob[]>;
  readonly store: JobStore;
  /** application is the application's own database; stores without transactions leave it out. */
  readonly application?: ApplicationHarness;
}

/** ApplicationHarness is the application whose transactions jobs join. */
export interface ApplicationHarness {
  begin(options?: BeginOptions): Promise<OpenTransaction>;
  /** effects answers what handlers have written with `effect` and committed. */
  effects(): Promise<string[]>;
  /** effect writes into a table of the application inside a transaction. */
  effect(transaction: Transaction, text: string): Promise<void>;
  /** executor is what the application hands to `enqueue`. */
  executor(transaction: Transaction): SqlExecutor;
  /** requests answers how many requests have not become a job, or part of one. */
  requests(): Promise<number>;
  /** resolve answers the job in which an answered id ended up. */
  resolve(id: string): Promise<string | undefined>;
}

/** KIND is the kind that the contract suite uses where the kind does not matter. */
export const KIND = 'contract.job';
const LEASE_MS = 30_000;
/** OVER_MS makes a lease that is over already, so that no test waits for one to run out. */
export const OVER_MS = -1;

/** request is an encoded request for a job that is due now. */
export function request(changes: Partial<EncodedRequest> = {}): EncodedRequest {
  return {
    dedupeKey: null,
    dueAt: null,
    dueInMs: null,
    kind: KIND,
    maxAttempts: 8,
    payloadJson: '{"n":1}',
    payloadVersion: 1,
    priority: 5,
    replacePayload: false,
    tenantId: null,
    whenRunning: 'merge',
    ...changes,
  };
}

/** order is a full look for any number of jobs of one kind under a new token. */
export function order(changes: Partial<ClaimOrder> & { kind?: string; leaseMs?: number } = {}): ClaimOrder {
  const { kind = KIND, leaseMs = LEASE_MS, ...rest } = changes;
  return {
    fullLook: true,
    kinds: [{ kind, leaseMs, limit: 1_000 }],
    limit: 1_000,
    owner: 'worker',
    token: randomUUID(),
    ...rest,
  };
}

/** failure is a failure record. */
export function failure(attempt = 1, code = 'test.failed'): FailureRecord {
  return { attempt, code };
}

/** StoreActor does the usual steps on a store. */
export class StoreActor {
  constructor(private readonly harness: () => JobStoreHarness) {}

  get store(): JobStore {
    return this.harness().store;
  }

  /** add enqueues requests in a transaction of their own. */
  add(...changes: Partial<EncodedRequest>[]): Promise<Enqueued[]> {
    return this.store.enqueueNow(changes.map((change) => request(change)));
  }

  async claimOne(changes: Parameters<typeof order>[0] = {}): Promise<ClaimedJob> {
    const [job] = await this.store.claim(order({ limit: 1, ...changes }));
    if (!job) throw new Error('There was nothing to claim.');
    return job;
  }

  async end(job: ClaimedJob, settlement: Settlement = { verb: 'complete', outcome: null }): Promise<SettleAnswer> {
    return (await this.store.settle([{ lease: job.lease, settlement }]))[0]!;
  }

  /** intake looks until there is nothing more to take in. */
  async intake(): Promise<void> {
    for (let batches = 0; batches < 1_000 && (await this.store.intake(500)).more; batches++);
  }

  async only(): Promise<InspectedJob> {
    const jobs = await this.harness().inspect();
    if (jobs.length !== 1) throw new Error(`There are ${jobs.length} jobs instead of one.`);
    return jobs[0]!;
  }

  async see(id: string): Promise<InspectedJob> {
    const job = (await this.harness().inspect()).find((candidate) => candidate.id === id);
    if (!job) throw new Error(`There is no job ${id}.`);
    return job;
  }
}
