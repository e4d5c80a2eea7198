import type { Lease } from '../../src/domain/lease.js';
import type { Enqueued } from '../../src/domain/request.js';

/** AskedRequest is what a caller asked for, and the answer. */
export interface AskedRequest {
  readonly answer: Enqueued;
  /** dueBy is the moment, in milliseconds, by which its job must be due; generous by minutes. */
  readonly dueBy: number;
  /** number is its payload. */
  readonly number: number;
  readonly replace: boolean;
  readonly tenant: string;
}

/** ModelRequest is a request as the model knows it. */
export interface ModelRequest extends AskedRequest {
  committedAt: number | undefined;
  /** coveredByRunning: a run that was RUNNING, and not held, when the caller enqueued (Q6). */
  readonly coveredByRunning: boolean;
}

/** ModelRun is a claimed attempt as the model knows it. */
export interface ModelRun {
  readonly claimedAt: number;
  endedAt: number | undefined;
  held: boolean;
  readonly jobId: string;
  readonly lease: Lease;
  /** number is the payload it runs with. */
  readonly number: number;
  readonly tenant: string;
}

/** DedupeModel remembers what was asked, what committed and what ran, on one logical clock. */
export class DedupeModel {
  readonly requests: ModelRequest[] = [];
  readonly runs: ModelRun[] = [];
  private clock = 0;
  private readonly replacements = new Set<number>();

  constructor(private readonly whenRunning: 'merge' | 'rerun') {}

  get running(): ModelRun[] {
    return this.runs.filter((run) => run.endedAt === undefined);
  }

  /** awaited answers the committed requests that a run is still to cover. */
  get awaited(): ModelRequest[] {
    return this.requests.filter((request) => !request.coveredByRunning && this.runOf(request) === undefined);
  }

  claimed(run: Omit<ModelRun, 'claimedAt' | 'endedAt' | 'held'>): void {
    this.runs.push({ ...run, claimedAt: this.tick(), endedAt: undefined, held: false });
  }

  commit(requests: readonly ModelRequest[]): void {
    for (const request of requests) request.committedAt = this.tick();
    this.requests.push(...requests);
  }

  enqueued(asked: AskedRequest): ModelRequest {
    if (asked.replace) this.replacements.add(asked.number);
    const running = this.running.some((run) => run.tenant === asked.tenant && !run.held);
    return { ...asked, committedAt: undefined, coveredByRunning: this.whenRunning === 'merge' && running };
  }

  end(run: ModelRun): void {
    run.endedAt = this.tick();
  }

  /** replaces tells whether a payload is that of a request that asked to replace another's (Q5). */
  replaces(number: number): boolean {
    return this.replacements.has(number);
  }

  /** runsAfter answers the runs that started after a request had committed. */
  runsAfter(request: ModelRequest): ModelRun[] {
    return this.runs.filter(
      (run) => run.tenant === request.tenant && run.claimedAt > (request.committedAt ?? Infinity),
    );
  }

  /** A request that replaces is covered by a run with its payload, or with one that replaced it. */
  private runOf(request: ModelRequest): ModelRun | undefined {
    return this.runsAfter(request).find((run) => !request.replace || this.replaces(run.number));
  }

  private tick(): number {
    return (this.clock += 1);
  }
}
