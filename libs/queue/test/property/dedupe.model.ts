import type { Lease } from '../../src/domain/lease.js';

/** ModelRequest is a request as the model knows it. */
export interface ModelRequest {
  readonly answeredId: string;
  committedAt: number | undefined;
  /** coveredByRunning: a run that was RUNNING, and not held, when the caller enqueued (Q6). */
  readonly coveredByRunning: boolean;
  readonly enqueuedAt: number;
  readonly tenant: string;
}

/** ModelRun is a claimed attempt as the model knows it. */
export interface ModelRun {
  readonly claimedAt: number;
  endedAt: number | undefined;
  held: boolean;
  readonly jobId: string;
  readonly lease: Lease;
  readonly tenant: string;
}

/** DedupeModel remembers what was asked, what committed and what ran, on one logical clock. */
export class DedupeModel {
  readonly requests: ModelRequest[] = [];
  readonly runs: ModelRun[] = [];
  private clock = 0;

  constructor(private readonly whenRunning: 'merge' | 'rerun') {}

  get running(): ModelRun[] {
    return this.runs.filter((run) => run.endedAt === undefined);
  }

  claimed(jobId: string, tenant: string, lease: Lease): void {
    this.runs.push({ claimedAt: this.tick(), endedAt: undefined, held: false, jobId, lease, tenant });
  }

  commit(requests: readonly ModelRequest[]): void {
    for (const request of requests) request.committedAt = this.tick();
    this.requests.push(...requests);
  }

  enqueued(answeredId: string, tenant: string): ModelRequest {
    const running = this.running.find((run) => run.tenant === tenant && !run.held);
    return {
      answeredId,
      committedAt: undefined,
      coveredByRunning: this.whenRunning === 'merge' && running !== undefined,
      enqueuedAt: this.tick(),
      tenant,
    };
  }

  end(run: ModelRun): void {
    run.endedAt = this.tick();
  }

  /** uncovered answers the committed requests that no run covers: none that started after the commit, and none that was running in Q6's sense. */
  uncovered(): ModelRequest[] {
    return this.requests.filter(
      (request) =>
        !request.coveredByRunning &&
        !this.runs.some((run) => run.tenant === request.tenant && run.claimedAt > (request.committedAt ?? Infinity)),
    );
  }

  private tick(): number {
    return (this.clock += 1);
  }
}
