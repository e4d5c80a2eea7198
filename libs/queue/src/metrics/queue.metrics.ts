import { register, type Registry } from 'prom-client';
import { type AnyJobDefinition, isJobDefinition } from '../domain/definition.js';
import { InvalidQueueOptionsError } from '../errors/invalid-queue-options.error.js';
import type { EventStream } from '../ports/event.stream.js';
import type { QueueEvent } from '../ports/queue.events.js';
import type { RunnerVitals } from '../ports/runner.vitals.js';
import { DEFAULT_BUCKETS, JobSeries } from './job.series.js';
import { LeaderSeries } from './leader.series.js';
import { SeriesFactory } from './series.factory.js';

/** QueueMetricsOptions say where the series are and which kinds are labels. */
export interface QueueMetricsOptions {
  /** durationBuckets are the upper bounds of `holdfast_job_duration_seconds`, in seconds. Default 5 ms to 30 min. */
  readonly durationBuckets?: readonly number[];
  /**
   * produces are the definitions that this process enqueues: beside those that have a handler here they are labels, and there at zero from the start. An
   * enqueue of any other kind counts as `__unknown__` (M4). Default none.
   */
  readonly produces?: readonly AnyJobDefinition[];
  /** registry holds the series. Default prom-client's own, `register`. */
  readonly registry?: Registry;
  /** waitBuckets are the upper bounds of `holdfast_job_wait_seconds`, in seconds. Default 5 ms to 1 h. */
  readonly waitBuckets?: readonly number[];
}

/** MetricsSources are what is listened to: a HoldfastQueue, or the parts that a process has of one. */
export interface MetricsSources {
  readonly jobs: { readonly events: EventStream };
  /** runner is undefined in a process that runs no jobs. */
  readonly runner?: { readonly events: EventStream; readonly vitals: RunnerVitals } | undefined;
  /** scheduler is undefined in a process that does not stand for leadership: it has no series of the leader's. */
  readonly scheduler?: { readonly events: EventStream } | undefined;
}

/**
 * QueueMetrics keeps the series of a queue for Prometheus, from the events of what it is given (M1, M3, M4).
 *
 * Counters move after the commit that they speak of. Labels are bounded: kinds of the code of this deployment, and lists written here.
 */
export class QueueMetrics {
  readonly registry: Registry;
  private readonly factory: SeriesFactory;
  private readonly stops: readonly (() => void)[];

  /** Throws DuplicateMetricsError where the registry has one of the series already, and InvalidQueueOptionsError for what is no definition. */
  constructor({ jobs, runner, scheduler }: MetricsSources, options: QueueMetricsOptions = {}) {
    const { produces = [], registry = register } = options;
    if (!Array.isArray(produces) || !produces.every(isJobDefinition))
      throw new InvalidQueueOptionsError(['produces must be a list of job definitions, none of them undefined']);
    this.registry = registry;
    this.factory = new SeriesFactory(registry);
    const duration = options.durationBuckets ?? DEFAULT_BUCKETS.duration;
    const wait = options.waitBuckets ?? DEFAULT_BUCKETS.wait;
    const ofJobs = new JobSeries(this.factory, { duration, wait }, () => runner?.vitals);
    const ofLeader = scheduler && new LeaderSeries(this.factory);
    const kinds = [...produces.map(({ kind }) => kind), ...(runner?.vitals.kinds ?? [])];
    ofJobs.kinds.admit(kinds);
    ofLeader?.admit(kinds);
    const take = (event: QueueEvent) => {
      ofJobs.take(event);
      ofLeader?.take(event);
    };
    this.stops = [jobs, runner, scheduler].flatMap((source) => (source ? [source.events.subscribe(take)] : []));
  }

  /** close listens no more and takes the series out of the registry. Idempotent. */
  close(): void {
    for (const stop of this.stops) stop();
    this.factory.close();
  }

  /** onApplicationShutdown is called by NestJS when everything else has ended. */
  onApplicationShutdown(): void {
    this.close();
  }
}

/**
 * queueMetrics keeps the series of a queue without NestJS: `queueMetrics(queue, { registry })`, before `queue.start()`; `close` it with the queue.
 *
 * Throws DuplicateMetricsError where the registry has one of the series already: two queues of a process need a registry each.
 */
export function queueMetrics(sources: MetricsSources, options?: QueueMetricsOptions): QueueMetrics {
  return new QueueMetrics(sources, options);
}
