import { JobState } from '../domain/job-state.js';
import type { DeclaredEnding } from '../domain/on-end.js';
import { jobStateName } from '../domain/job-state.js';
import type { EncodedRequest, Enqueued } from '../domain/request.js';
import { MemoryJob } from './memory.job.js';

/** WaitingRequest is a request that waits for a run to end (Q6). */
interface WaitingRequest {
  readonly job: MemoryJob;
  readonly request: EncodedRequest;
  readonly token: string;
}

/** MemoryTable is what several memory stores share, as processes share a database. */
export class MemoryTable {
  /** cancels are the ids of running jobs that somebody asked to be cancelled. */
  readonly cancels = new Set<string>();
  readonly jobs = new Map<string, MemoryJob>();
  private endings: readonly DeclaredEnding[] = [];
  private lastId = 0n;
  private waiting: WaitingRequest[] = [];

  add(request: EncodedRequest): Enqueued {
    const now = Date.now();
    const live = request.dedupeKey === null ? undefined : this.liveJobOf(request);
    if (!live) return { disposition: 'created', id: this.insert(request, now).id, payloadDiffers: false };
    const payloadDiffers = live.payloadJson !== request.payloadJson;
    if (!live.lease) live.join(request, now);
    else if (request.whenRunning === 'rerun' || live.held || this.cancels.has(live.id))
      this.waiting.push({ job: live, request, token: live.lease.token });
    return { disposition: 'existing', id: live.id, payloadDiffers };
  }

  /** cancelledLate answers the pending jobs that were asked to be cancelled while they ran. */
  cancelledLate(): MemoryJob[] {
    return [...this.cancels].map((id) => this.jobs.get(id)!).filter(({ state }) => state === JobState.PENDING);
  }

  /** clear removes everything. */
  clear(): void {
    this.cancels.clear();
    this.jobs.clear();
    this.waiting = [];
  }

  /** declare says which jobs follow on the ends of these kinds. */
  declare(kinds: readonly string[], endings: readonly DeclaredEnding[]): void {
    this.endings = [...this.endings.filter(({ kind }) => !kinds.includes(kind)), ...endings];
  }

  /** due answers the jobs that may be claimed now, in the order of claiming. */
  due(kind: string, suspect: boolean): MemoryJob[] {
    const now = Date.now();
    return [...this.jobs.values()]
      .filter((job) => job.state === JobState.PENDING && job.request.kind === kind && job.suspect === suspect)
      .filter((job) => job.dueAt <= now)
      .sort(
        (a, b) => a.request.priority - b.request.priority || a.dueAt - b.dueAt || Number(BigInt(a.id) - BigInt(b.id)),
      );
  }

  /** follow makes the jobs that follow on the end of one (R14). */
  follow({ errorCode, id, payloadJson, payloadVersion, request: { kind, tenantId }, state }: MemoryJob): void {
    const code = state === JobState.CANCELLED ? null : errorCode;
    const payload = { code, jobId: id, kind, payload: JSON.parse(payloadJson) as object, payloadVersion };
    for (const { followUp } of this.endings.filter((ending) => ending.kind === kind && ending.state === state)) {
      const { maxAttempts, priority, version } = followUp;
      const payloadText = JSON.stringify({ ...payload, state: jobStateName(state) });
      const request = {
        dedupeKey: null,
        dueAt: null,
        dueInMs: null,
        kind: followUp.kind,
        maxAttempts,
        payloadJson: payloadText,
      };
      this.add({
        ...request,
        payloadVersion: version,
        priority,
        replacePayload: false,
        tenantId,
        whenRunning: 'merge',
      });
    }
  }

  /** intake lets go of the requests whose run has ended, and answers how many became a job and how many joined one. */
  intake(): { created: number; merged: number } {
    const ended = this.waiting.filter(
      ({ job, token }) => job.lease?.token !== token && !(job.live && this.cancels.has(job.id)),
    );
    this.waiting = this.waiting.filter((waits) => !ended.includes(waits));
    const answers = ended.map(({ request }) => this.add({ ...request, whenRunning: 'merge' }));
    const created = answers.filter(({ disposition }) => disposition === 'created').length;
    return { created, merged: answers.length - created };
  }

  /** isLive tells whether the key of a request has a live job. */
  isLive(request: EncodedRequest): boolean {
    return this.liveJobOf(request) !== undefined;
  }

  private insert(request: EncodedRequest, now: number): MemoryJob {
    const job = new MemoryJob(String(++this.lastId), request, now);
    this.jobs.set(job.id, job);
    return job;
  }

  private liveJobOf({ dedupeKey, kind, tenantId }: EncodedRequest): MemoryJob | undefined {
    for (const job of this.jobs.values()) {
      const { request } = job;
      if (job.live && request.dedupeKey === dedupeKey && request.kind === kind && request.tenantId === tenantId)
        return job;
    }
    return undefined;
  }
}
