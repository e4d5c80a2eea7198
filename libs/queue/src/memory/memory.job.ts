import { KEPT_FAILURES, type FailureRecord } from '../domain/failure.js';
import { JobState, type JobStateCode } from '../domain/job-state.js';
import type { EncodedRequest } from '../domain/request.js';
import type { Settlement } from '../domain/settlement.js';
import { storableText } from '../domain/text.js';

const MAX_DELAY_MS = 315_360_000_000;
const FREE_LOSSES = 3;
const MAX_TEXT_LENGTH = 2_000;

/** MemoryLease is who holds a job in memory, and until when. */
export interface MemoryLease {
  readonly owner: string;
  readonly token: string;
  until: number;
}

/** MemoryJob is one job in memory and its transitions. Moments are milliseconds of the process's clock. */
export class MemoryJob {
  attempt = 0;
  readonly createdAt: number;
  deferredSince: number | null = null;
  dueAt: number;
  errorCode: string | null = null;
  failures: (FailureRecord & { at: string })[] = [];
  held = false;
  lease: MemoryLease | null = null;
  losses = 0;
  outcome: string | null = null;
  payloadJson: string;
  payloadVersion: number;
  progress: number | null = null;
  refusal: unknown = null;
  state: JobStateCode = JobState.PENDING;
  suspect = false;

  constructor(
    readonly id: string,
    readonly request: EncodedRequest,
    now: number,
  ) {
    this.createdAt = now;
    this.dueAt = dueMoment(request, now);
    this.payloadJson = request.payloadJson;
    this.payloadVersion = request.payloadVersion;
  }

  get live(): boolean {
    return this.state === JobState.PENDING || this.state === JobState.RUNNING;
  }

  /** cancel ends it, whatever it was. */
  cancel(): void {
    this.deferredSince = null;
    this.losses = 0;
    this.refusal = null;
    this.suspect = false;
    this.leave(JobState.CANCELLED);
  }

  claim(lease: MemoryLease): void {
    this.attempt++;
    this.held = false;
    this.lease = lease;
    this.progress = null;
    this.state = JobState.RUNNING;
  }

  /** expire takes the job back from a lease that ran out. */
  expire(now: number): void {
    this.addFailure({ attempt: this.attempt, code: 'queue.lease_expired' }, now);
    this.suspect = !this.exhausted;
    this.errorCode = this.exhausted ? 'queue.attempts_exhausted' : 'queue.lease_expired';
    this.losses = 0;
    this.deferredSince = null;
    if (!this.exhausted) this.dueAt = now;
    this.leave(this.exhausted ? JobState.DEAD_LETTER : JobState.PENDING);
  }

  /** join is what becomes of a pending job when its key is asked for again (Q5). */
  join(request: EncodedRequest, now: number): void {
    if (this.attempt === 0 && this.deferredSince === null) this.dueAt = Math.min(this.dueAt, dueMoment(request, now));
    if (!request.replacePayload) return;
    this.payloadJson = request.payloadJson;
    this.payloadVersion = request.payloadVersion;
  }

  settle(settlement: Settlement, now: number): void {
    const losses = this.losses;
    if (settlement.verb === 'cancel') return this.cancel();
    if (settlement.verb === 'giveBack') {
      this.attempt--;
      return this.leave(JobState.PENDING);
    }
    this.suspect = false;
    this.losses = settlement.verb === 'lose' ? Math.min(losses + 1, FREE_LOSSES) : 0;
    switch (settlement.verb) {
      case 'complete':
        return this.succeed(settlement.outcome, JobState.SUCCEEDED);
      case 'repeat':
        this.attempt = 0;
        this.failures = [];
        this.dueAt = now + bounded(settlement.delayMs);
        return this.succeed(settlement.outcome, JobState.PENDING);
      case 'refuse':
        this.errorCode = settlement.code;
        this.refusal = { code: settlement.code, params: settlement.params };
        this.deferredSince = null;
        return this.leave(JobState.FAILED);
      default:
        return this.fail(settlement, losses, now);
    }
  }

  private addFailure(failure: FailureRecord, now: number): void {
    const last = this.failures.at(-1);
    if (last?.attempt === failure.attempt && last.code === failure.code) this.failures.pop();
    const texts = { errorClass: clean(failure.errorClass), message: clean(failure.message) };
    this.failures.push({ ...failure, ...texts, at: new Date(now).toISOString() });
    this.failures = this.failures.slice(-KEPT_FAILURES);
  }

  private get exhausted(): boolean {
    return this.request.maxAttempts !== null && this.attempt >= this.request.maxAttempts;
  }

  private fail(
    settlement: Extract<Settlement, { verb: 'retry' | 'defer' | 'lose' | 'bury' }>,
    losses: number,
    now: number,
  ): void {
    const gives = settlement.verb === 'defer' || (settlement.verb === 'lose' && losses < FREE_LOSSES);
    this.errorCode = settlement.failure.code;
    this.addFailure(settlement.failure, now);
    const goesOn = settlement.verb === 'retry' && settlement.outage === true;
    if (gives) this.deferredSince ??= now;
    else if (!goesOn) this.deferredSince = null;
    if (settlement.verb === 'bury' || (!gives && this.exhausted)) return this.bury();
    if (gives) this.attempt--;
    this.dueAt = now + bounded(settlement.delayMs);
    this.leave(JobState.PENDING);
  }

  private bury(): void {
    this.deferredSince = null;
    this.leave(JobState.DEAD_LETTER);
  }

  private leave(state: JobStateCode): void {
    this.lease = null;
    this.state = state;
  }

  private succeed(outcome: string | null, state: JobStateCode): void {
    this.errorCode = null;
    this.deferredSince = null;
    this.outcome = outcome;
    this.leave(state);
  }
}

/** dueMoment answers the moment that a request asks for. */
export function dueMoment({ dueAt, dueInMs }: EncodedRequest, now: number): number {
  if (dueInMs !== null) return now + dueInMs;
  return dueAt === null ? now : Date.parse(dueAt);
}

function bounded(ms: number): number {
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), MAX_DELAY_MS);
}

function clean(text: string | undefined): string | undefined {
  return text === undefined ? undefined : storableText(text, MAX_TEXT_LENGTH);
}
