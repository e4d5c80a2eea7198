import { pause, withDeadline } from '@holdfast/kernel';
import type { JobInterceptorRegistry } from '../../handlers/job-interceptor.registry.js';
import type { ClaimedJob, JobStore } from '../../ports/job-store.js';
import type { JobEvent } from '../../ports/runner.events.js';
import type { QueueEvent } from '../../ports/queue.events.js';
import { planKind, type KindPlan } from '../../runner/kind.plan.js';
import { Runner } from '../../runner/runner.js';
import { resolveRunnerOptions, type RunnerOptions } from '../../runner/runner.options.js';
import { JobFeed } from './job.feed.js';
import { KitError } from './kit.errors.js';
import type { TestedQueue } from './tested.queue.js';

/** AttemptEnded is the event that ends one attempt. */
export type AttemptEnded = Extract<JobEvent, { readonly run: unknown }>;

/** KitRunnerOptions say what a runner of the kit runs. */
export interface KitRunnerOptions {
  /** changes are laid over the store. */
  readonly changes?: Partial<JobStore>;
  readonly deadlineMs: number;
  /** interceptors stand around the handlers. Default the application's. */
  readonly interceptors?: JobInterceptorRegistry;
  readonly kinds: readonly string[];
  readonly slots: number;
}

const ENDS: readonly string[] = [
  'job.cancelled',
  'job.completed',
  'job.dead_lettered',
  'job.deferred',
  'job.given_back',
  'job.lost',
  'job.refused',
  'job.retried',
  'job.unrecorded',
];
const POLL_MS = 3_600_000;

/**
 * KitRunner runs jobs that the kit has claimed, by a real Runner with the application's handlers, interceptors, options and database: what happens in a
 * test is what happens in production. It looks for nothing by itself, so that it may stand beside another runner.
 */
export class KitRunner {
  /** plans are how each kind is run here, its lease among it. */
  readonly plans: ReadonlyMap<string, KindPlan>;
  private readonly ended = new Map<string, AttemptEnded>();
  private readonly feed = new JobFeed();
  private readonly runner: Runner;
  private readonly seen: JobEvent[] = [];
  private waiting = false;
  private wake: (() => void) | undefined;

  constructor(
    private readonly queue: TestedQueue,
    private readonly options: KitRunnerOptions,
  ) {
    const { except: _except, ...own } = queue.options.run;
    const run: RunnerOptions = { ...own, graceMs: 0, only: options.kinds, pollMs: POLL_MS, slots: options.slots };
    const resolved = resolveRunnerOptions(run, 'holdfast-testing');
    const { registry, store } = queue;
    this.plans = new Map(options.kinds.map((kind) => [kind, planKind(registry.find(kind)!, resolved)]));
    this.runner = new Runner({
      database: queue.database,
      interceptors: options.interceptors ?? queue.interceptors,
      options: run,
      registry,
      reporter: { report: (event) => this.hear(event) },
      store: this.feed.storeOn(store, options.changes),
    });
  }

  /** events are those of the attempts so far. */
  get events(): readonly JobEvent[] {
    return this.seen;
  }

  close(): Promise<void> {
    return this.runner.close();
  }

  /** run runs jobs to the end of one attempt each and answers the events that ended them. Rejects with KitError at the deadline. */
  async run(jobs: readonly ClaimedJob[]): Promise<AttemptEnded[]> {
    for (const { id } of jobs) this.ended.delete(id);
    this.waiting = true;
    this.feed.give(jobs);
    await this.runner.start();
    this.runner.wake();
    const { deadlineMs } = this.options;
    const late = () => {
      const running = jobs.filter(({ id }) => !this.ended.has(id)).map(({ id, kind }) => `${kind} ${id}`);
      return new KitError(
        `After ${deadlineMs} ms not ended: ${running.join(', ') || 'a handler that goes on after its end'}. Does a handler wait for something that does not come? Else give a longer \`deadline\`.`,
      );
    };
    await withDeadline(this.allEnded(jobs), deadlineMs, late).finally(() => (this.waiting = false));
    return jobs.map(({ id }) => this.ended.get(id)!);
  }

  /** A handler may go on after the end of its attempt: nothing of it is left behind. */
  private async allEnded(jobs: readonly ClaimedJob[]): Promise<void> {
    while (!jobs.every(({ id }) => this.ended.has(id))) await new Promise<void>((resolve) => (this.wake = resolve));
    while (this.waiting && this.runner.running > 0) await pause(1, new AbortController().signal);
  }

  private hear(event: QueueEvent): void {
    if (!('run' in event) || !event.type.startsWith('job.')) return;
    this.seen.push(event);
    this.queue.tell(event);
    if (!ENDS.includes(event.type)) return;
    this.ended.set(event.run.id, event);
    this.wake?.();
  }
}
