import { randomUUID } from 'node:crypto';
import { parseDuration } from '@holdfast/kernel';
import type { ClaimedJob, ClaimOrder } from '../../ports/job-store.js';
import { bringForward } from '../../postgres/sql/bring-forward.sql.js';
import { resolveRunnerOptions } from '../../runner/runner.options.js';
import { DrainError } from './drain.error.js';
import { type DrainedJob, drainedJob } from './drained.job.js';
import { type EnqueuedJob, enqueuedJobs } from './enqueued.job.js';
import { KitError } from './kit.errors.js';
import { KitRunner } from './kit.runner.js';
import { type TestedApplication, type TestedQueue, testedQueue } from './tested.queue.js';

/** DrainOptions say how far a drain goes. */
export interface DrainOptions {
  /** concurrency is how many jobs run at once. Default 1: one after another, in the order in which they are claimed. */
  readonly concurrency?: number;
  /** deadline for the whole of it, after which it rejects with DrainError. Default `'60s'`. */
  readonly deadline?: string;
  /** maxJobs is how many runs there may be: jobs that enqueue each other would go on for ever. Default 1 000. */
  readonly maxJobs?: number;
  /** travel lets time pass for what is due later: `'1h'`, or `'all'` until nothing waits any more. Default none: it is left alone. */
  readonly travel?: string;
}

/** Drained is what a drain ran. */
export interface Drained {
  /** ended are the runs in the order in which they ended; a job that was retried is in it more than once. */
  readonly ended: readonly DrainedJob[];
  /** travelledMs is how much time has passed for the jobs. */
  readonly travelledMs: number;
}

const INTAKE = 1_000;
const REAP = 100;
const TEN_YEARS_MS = 315_360_000_000;

/**
 * drain runs all that is due, follow-ups and retries that are due included, until nothing is, and answers what ended how.
 *
 * The jobs run as in production, by the application's handlers and options, with no runner running: requests are taken in, leases that ran out taken
 * back, jobs claimed. With `travel` the due times of all waiting jobs move forward together, so that their order stays; the database's clock does not
 * move, so what compares moments (`maxDefer`, a handler's own `now()`) sees no time pass.
 *
 * Rejects with DrainError, which names what is left, at the deadline and when there are more than `maxJobs`. A job that fails does not reject it: look
 * at `ended`.
 */
export async function drain(app: TestedApplication, options: DrainOptions = {}): Promise<Drained> {
  const queue = testedQueue(app);
  const { handles } = resolveRunnerOptions(queue.options.run, 'holdfast-testing');
  const kinds = queue.registry.kinds.filter(handles);
  if (kinds.length === 0)
    throw new KitError(
      'There is no handler to run anything: await app.init() first, and list the handlers under providers.',
    );
  const run = new DrainRun(queue, kinds, options);
  try {
    return await run.toTheEnd();
  } finally {
    await run.close();
  }
}

/** DrainRun is one drain. */
class DrainRun {
  private readonly deadlineMs: number;
  private readonly ended: DrainedJob[] = [];
  private readonly endsAt: number;
  private readonly maxJobs: number;
  private readonly runner: KitRunner;
  private readonly slots: number;
  private readonly travelMs: number;
  private travelledMs = 0;

  constructor(
    private readonly queue: TestedQueue,
    private readonly kinds: readonly string[],
    { concurrency = 1, deadline = '60s', maxJobs = 1_000, travel }: DrainOptions,
  ) {
    this.deadlineMs = parseDuration(deadline);
    this.endsAt = performance.now() + this.deadlineMs;
    this.maxJobs = maxJobs;
    this.slots = concurrency;
    this.travelMs = travel === undefined ? 0 : travel === 'all' ? TEN_YEARS_MS : parseDuration(travel);
    this.runner = new KitRunner(queue, { deadlineMs: this.deadlineMs, kinds, slots: concurrency });
  }

  close(): Promise<void> {
    return this.runner.close();
  }

  async toTheEnd(): Promise<Drained> {
    for (;;) {
      if (performance.now() > this.endsAt) throw await this.stopped(`within ${this.deadlineMs} ms`);
      const jobs = await this.next();
      if (jobs.length === 0 && (await this.travel())) continue;
      if (jobs.length === 0) return { ended: this.ended, travelledMs: this.travelledMs };
      const ends = await this.runner.run(jobs).catch(async (error: unknown) => {
        throw await this.stopped(`within ${this.deadlineMs} ms`, error);
      });
      this.ended.push(...ends.map(drainedJob));
    }
  }

  private async claim(limit: number): Promise<{ jobs: ClaimedJob[]; order: ClaimOrder }> {
    const { store } = this.queue;
    const plans = this.kinds.map((kind) => this.runner.plans.get(kind)!);
    const kinds = plans.map(({ concurrency, kind, leaseMs }) => ({
      kind,
      leaseMs,
      limit: Math.min(concurrency, limit),
    }));
    const order = { fullLook: true, kinds, limit, owner: 'holdfast-testing', token: randomUUID() };
    const jobs = await store.claim(order);
    if (jobs.length > 0) return { jobs, order };
    // One whose last run vanished runs alone (Q12).
    const suspect = await store.claimSuspect(order);
    return { jobs: suspect ? [suspect] : [], order };
  }

  private async next(): Promise<ClaimedJob[]> {
    const { store } = this.queue;
    while ((await store.intake(INTAKE)).more);
    while ((await store.reap(this.kinds, REAP)).returned.length >= REAP);
    const left = this.maxJobs - this.ended.length;
    const { jobs, order } = await this.claim(Math.max(1, Math.min(this.slots, left)));
    if (jobs.length === 0 || left > 0) return jobs;
    await store.giveBackClaim(order.token);
    throw await this.stopped(`with maxJobs: ${this.maxJobs}`);
  }

  private async left(): Promise<EnqueuedJob[]> {
    const { connections, options } = this.queue;
    const jobs = await enqueuedJobs(connections, options.schema);
    return jobs.filter(({ kind, state }) => this.kinds.includes(kind) && ['PENDING', 'RUNNING'].includes(state));
  }

  private async stopped(bound: string, cause?: unknown): Promise<DrainError> {
    const left = await this.left();
    return new DrainError(bound, this.ended, left, cause === undefined ? undefined : { cause });
  }

  /** travel answers whether anything has become due by it. */
  private async travel(): Promise<boolean> {
    const withinMs = Math.floor(this.travelMs - this.travelledMs);
    if (withinMs <= 0) return false;
    const { connections, options } = this.queue;
    const { rows } = await bringForward.run(connections, options.schema, { kinds: this.kinds, withinMs });
    if (rows[0]) this.travelledMs += rows[0].moved_ms;
    return rows.length > 0;
  }
}
