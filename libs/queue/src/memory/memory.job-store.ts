import type { CancelAnswer, CancelOptions } from '../domain/cancel.answer.js';
import { isFinal, JobState, jobStateName } from '../domain/job-state.js';
import type { DeclaredEnding } from '../domain/on-end.js';
import type { Lease } from '../domain/lease.js';
import type { EncodedRequest, Enqueued } from '../domain/request.js';
import {
  JobStore,
  type ClaimedJob,
  type ClaimOrder,
  type IntakeResult,
  type KindClaim,
  type KindDepth,
  type LeasedProgress,
  type LeasedSettlement,
  type ReapResult,
  type SettleAnswer,
  type Verdict,
} from '../ports/job-store.js';
import type { MemoryJob } from './memory.job.js';
import { MemoryTable } from './memory.table.js';

/**
 * MemoryJobStore keeps jobs in the memory of one process: for tests of handlers and of the runner, where detached jobs are enough.
 *
 * `transactions` is false: a job cannot be created or completed inside an application's transaction, and all is gone when the process ends.
 */
export class MemoryJobStore extends JobStore {
  readonly transactions = false;

  /** Stores that are given one table behave as several processes on one database. Default a table of its own. */
  constructor(readonly table = new MemoryTable()) {
    super();
  }

  cancel(id: string, { tenantId }: CancelOptions = {}): Promise<CancelAnswer> {
    const job = this.table.jobs.get(id);
    if (!job || (tenantId !== undefined && tenantId !== job.request.tenantId))
      return Promise.resolve({ disposition: 'not_found' });
    const state = jobStateName(job.state);
    if (isFinal(state)) return Promise.resolve({ disposition: 'final', id, state });
    if (job.lease) this.table.cancels.add(id);
    else {
      job.cancel();
      this.table.follow(job);
    }
    return Promise.resolve({ disposition: job.lease ? 'requested' : 'cancelled', id });
  }

  cancelsOf(leases: readonly Lease[]): Promise<Lease[]> {
    return Promise.resolve(leases.filter(({ jobId }) => this.table.cancels.has(jobId)));
  }

  claim(order: ClaimOrder): Promise<ClaimedJob[]> {
    const taken: ClaimedJob[] = [];
    for (const kind of order.kinds) {
      const most = Math.max(0, Math.min(kind.limit, order.limit - taken.length));
      for (const job of this.table.due(kind.kind, false).slice(0, most)) taken.push(take(job, kind, order));
    }
    return Promise.resolve(taken);
  }

  claimSuspect(order: ClaimOrder): Promise<ClaimedJob | undefined> {
    for (const kind of order.kinds) {
      const [job] = this.table.due(kind.kind, true);
      if (job) return Promise.resolve(take(job, kind, order));
    }
    return Promise.resolve(undefined);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  completeIn(): Promise<never> {
    return Promise.reject(
      new TypeError('Jobs in memory cannot be completed inside a transaction: use detached handlers, or PostgreSQL.'),
    );
  }

  declareEndings(kinds: readonly string[], endings: readonly DeclaredEnding[]): Promise<void> {
    this.table.declare(kinds, endings);
    return Promise.resolve();
  }

  depth(kinds: readonly string[]): Promise<KindDepth[]> {
    const pending = [...this.table.jobs.values()].filter(({ state }) => state === JobState.PENDING);
    const all = [...new Set([...kinds, ...pending.map(({ request }) => request.kind)])];
    const depths = all.map((kind) => {
      const due = [...this.table.due(kind, false), ...this.table.due(kind, true)];
      const oldest = Math.min(Date.now(), ...due.map(({ dueAt }) => dueAt));
      return { due: due.length, kind, oldestDueAgeMs: Date.now() - oldest };
    });
    return Promise.resolve(depths);
  }

  enqueue(request: EncodedRequest): Promise<Enqueued> {
    return Promise.resolve(this.table.add(request));
  }

  enqueueMany(requests: readonly EncodedRequest[]): Promise<Enqueued[]> {
    return this.enqueueNow(requests);
  }

  enqueueNow(requests: readonly EncodedRequest[]): Promise<Enqueued[]> {
    return Promise.resolve(requests.map((request) => this.table.add(request)));
  }

  ensure(requests: readonly EncodedRequest[]): Promise<number> {
    const missing = requests.filter((request) => !this.table.isLive(request));
    for (const request of missing) this.table.add(request);
    return Promise.resolve(missing.length);
  }

  giveBackClaim(token: string): Promise<number> {
    const jobs = [...this.table.jobs.values()].filter(({ lease }) => lease?.token === token);
    for (const job of jobs) job.settle({ verb: 'giveBack' }, Date.now());
    return Promise.resolve(jobs.length);
  }

  hold(lease: Lease): Promise<boolean> {
    const job = this.held(lease);
    if (job) job.held = true;
    return Promise.resolve(job !== undefined);
  }

  intake(): Promise<IntakeResult> {
    return Promise.resolve({ ...this.table.intake(), more: false, waiting: 0 });
  }

  reap(kinds: readonly string[], limit: number): Promise<ReapResult> {
    const now = Date.now();
    const expired = [...this.table.jobs.values()].filter(
      ({ lease, request }) => lease && lease.until < now && kinds.includes(request.kind),
    );
    const reaped = [...this.table.cancelledLate().slice(0, limit), ...expired.slice(0, limit)];
    for (const job of reaped) {
      if (job.lease) job.expire(now);
      if (this.table.cancels.delete(job.id)) job.cancel();
      this.table.follow(job);
    }
    const part = (wanted: number) =>
      reaped.filter(({ state }) => state === wanted).map(({ id, request }) => ({ id, kind: request.kind }));
    return Promise.resolve({
      cancelled: part(JobState.CANCELLED),
      deadLettered: part(JobState.DEAD_LETTER),
      returned: part(JobState.PENDING),
    });
  }

  renew(leases: readonly Lease[], leaseMs: number): Promise<Lease[]> {
    const held = leases.filter((lease) => this.held(lease) !== undefined);
    for (const lease of held) this.held(lease)!.lease!.until = Date.now() + leaseMs;
    return Promise.resolve(held);
  }

  report(reports: readonly LeasedProgress[]): Promise<Lease[]> {
    const held = reports.filter(({ lease }) => this.held(lease) !== undefined);
    for (const { fraction, lease } of held) this.held(lease)!.progress = fraction;
    return Promise.resolve(held.map(({ lease }) => lease));
  }

  settle(settlements: readonly LeasedSettlement[]): Promise<SettleAnswer[]> {
    const answers = settlements.map(({ lease, settlement }): SettleAnswer => {
      const job = this.held(lease);
      job?.settle(settlement, Date.now());
      if (!job) return false;
      if (this.table.cancels.delete(job.id) && settlement.verb !== 'complete') job.cancel();
      this.table.follow(job);
      return job.state === JobState.CANCELLED ? 'cancelled' : true;
    });
    return Promise.resolve(answers);
  }

  suspectsDue(kinds: readonly string[]): Promise<number> {
    return Promise.resolve(kinds.reduce((sum, kind) => sum + this.table.due(kind, true).length, 0));
  }

  unknownKinds(kinds: readonly string[]): Promise<string[]> {
    const pending = [...this.table.jobs.values()].filter(({ state }) => state === JobState.PENDING);
    const unknown = pending.map(({ request }) => request.kind).filter((kind) => !kinds.includes(kind));
    return Promise.resolve([...new Set(unknown)].sort());
  }

  verdict(lease: Lease, attempt: number): Promise<Verdict> {
    if (this.held(lease)) return Promise.resolve('held');
    const job = this.table.jobs.get(lease.jobId);
    const settled =
      (job?.state === JobState.SUCCEEDED && job.attempt === attempt) ||
      ((job?.state === JobState.PENDING || job?.state === JobState.CANCELLED) && job.attempt < attempt);
    if (settled) return Promise.resolve('settled');
    const expired = job?.failures.some((one) => one.code === 'queue.lease_expired' && one.attempt === attempt);
    return Promise.resolve(expired ? 'expired' : 'lost');
  }

  private held({ jobId, token }: Lease): MemoryJob | undefined {
    const job = this.table.jobs.get(jobId);
    return job?.lease?.token === token ? job : undefined;
  }
}

function take(job: MemoryJob, { leaseMs }: KindClaim, { owner, token }: ClaimOrder): ClaimedJob {
  const now = Date.now();
  job.claim({ owner, token, until: now + leaseMs });
  const { request } = job;
  return {
    attempt: job.attempt,
    createdAt: new Date(job.createdAt),
    deferredMs: job.deferredSince === null ? null : now - job.deferredSince,
    dueAt: new Date(job.dueAt),
    id: job.id,
    kind: request.kind,
    lease: { jobId: job.id, token },
    leaseMs,
    losses: job.losses,
    maxAttempts: request.maxAttempts,
    payload: JSON.parse(job.payloadJson) as unknown,
    payloadVersion: job.payloadVersion,
    priority: request.priority,
    suspect: job.suspect,
    tenantId: request.tenantId,
    waitedMs: Math.max(0, now - job.dueAt),
  };
}
