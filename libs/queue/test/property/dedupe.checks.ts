import type { Enqueued } from '../../src/domain/request.js';
import type { Jobs } from '../../src/ports/jobs.js';
import type { DedupeModel, ModelRequest } from './dedupe.model.js';
import type { DedupeTable, LiveRow, RequestRow } from './dedupe.table.js';

/** DedupeChecks compare what the table holds with what the rules ask for, given the model. */
export class DedupeChecks {
  private readonly pending = new Map<string, LiveRow>();

  constructor(
    private readonly model: DedupeModel,
    private readonly table: DedupeTable,
    private readonly jobs: Jobs,
  ) {}

  /** afterStep asserts what must hold after every step. */
  async afterStep(): Promise<void> {
    const requests = await this.table.requests();
    const live = await this.table.live();
    const tenants = live.map((row) => row.tenant);
    if (new Set(tenants).size !== tenants.length) fail('Two live jobs share a key', live);
    const leases = live.filter((row) => row.state === 1).map((row) => `${row.id} ${row.token}`);
    const expected = this.model.running.map((run) => `${run.jobId} ${run.lease.token}`);
    if (leases.sort().join() !== expected.sort().join())
      fail('Leases differ from those of the model', leases, expected);
    this.checkPending(live);
    for (const request of this.model.awaited) checkAwaited(request, live, requests, this.model);
  }

  /** answer asserts that a READ COMMITTED caller is told the live job that was committed when it asked (Q4). */
  answer({ disposition, id }: Enqueued, live: LiveRow | undefined): void {
    if (live && (disposition !== 'existing' || id !== live.id)) fail('The answer does not name the live job', id, live);
  }

  /** answers asserts that each answer leads to a job, or to a request that is to become one (Q4). */
  async answers(): Promise<void> {
    for (const request of this.model.requests) {
      const job = await this.jobs.find(request.answer.id);
      if (!job) fail('An answer leads nowhere', request);
      else if ((job.tenantId ?? '') !== request.tenant) fail("An answer leads to another tenant's job", request, job);
    }
  }

  /** atRest asserts what must hold when nothing is left to do: everything is covered, and by the job to which the answer leads (Q4, Q6). */
  async atRest(): Promise<void> {
    if (this.model.awaited.length > 0) fail('Requests were covered by no run', this.model.awaited);
    await this.answers();
    for (const request of this.model.requests) {
      if (request.answer.disposition !== 'requested' || request.coveredByRunning) continue;
      const job = await this.jobs.find(request.answer.id);
      if (!this.model.runsAfter(request).some((run) => run.jobId === job?.id))
        fail('An answer leads to a job that did not cover its request', request, job);
    }
  }

  /** forget lets the due moment of a job change: its run has ended, or the test moved it. */
  forget(jobId?: string): void {
    if (jobId === undefined) this.pending.clear();
    else this.pending.delete(jobId);
  }

  private checkPending(rows: readonly LiveRow[]): void {
    for (const row of rows) {
      const before = this.pending.get(row.id);
      if (row.state === 0 && before?.state === 0) {
        if (row.due_text > before.due_text) fail('A request delayed a job', before, row);
        if (before.waits_out && row.due_text !== before.due_text)
          fail('A request hurried a retry or a deferral', before, row);
        if (row.number !== before.number && !this.model.replaces(row.number))
          fail('A request replaced the payload and had not asked to', before, row);
      }
      this.pending.set(row.id, row);
    }
  }
}

/** checkAwaited asserts that a committed request that no run covers yet is a job that waits, or is part of one, and not later than it asked (Q5). */
function checkAwaited(
  request: ModelRequest,
  live: readonly LiveRow[],
  requests: readonly RequestRow[],
  model: DedupeModel,
): void {
  const ours = (row: { readonly tenant: string }) => row.tenant === request.tenant;
  const waiting = requests.filter(ours);
  const job = live.find((row) => ours(row) && row.state === 0);
  if (!job && waiting.length === 0) fail('A committed request has vanished', request, live);
  const moments = [...waiting, ...(job ? [job] : [])].map((row) => row.due_ms);
  if (!job?.waits_out && Math.min(...moments) > request.dueBy)
    fail('A request will come too late', request, job, waiting);
  if (job && waiting.length === 0 && request.replace && !model.replaces(job.number))
    fail('A payload was not replaced', request, job);
}

function fail(what: string, ...details: unknown[]): never {
  throw new Error(`${what}: ${JSON.stringify(details)}`);
}
