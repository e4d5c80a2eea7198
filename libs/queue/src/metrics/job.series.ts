import type { Counter, Gauge, Histogram } from 'prom-client';
import type { QueueEvent } from '../ports/queue.events.js';
import type { RunnerVitals } from '../ports/runner.vitals.js';
import { KindFold } from './kind.fold.js';
import type { SeriesFactory } from './series.factory.js';

/** Buckets are the upper bounds of histograms, in seconds. */
export interface Buckets {
  readonly duration: readonly number[];
  readonly wait: readonly number[];
}

export const DEFAULT_BUCKETS: Buckets = {
  duration: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800],
  wait: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600],
};

const DISPOSITIONS = ['created', 'existing', 'requested', 'unconfirmed'] as const;
const RESULTS = ['cancelled', 'dead_lettered', 'refused', 'repeated', 'succeeded'] as const;
const CLASSES = ['connection_lost', 'lease_expired', 'permanent', 'retryable', 'unavailable'] as const;

type Result = (typeof RESULTS)[number];
type FailedAs = (typeof CLASSES)[number];

/** JobSeries counts what this process enqueues and runs (M1). Every event comes after the commit that it speaks of (M4). */
export class JobSeries {
  readonly kinds: KindFold;
  private readonly attemptsFailed: Counter<'class' | 'kind'>;
  private readonly claimed: Counter<'kind'>;
  private readonly deadLettered: Counter<'kind'>;
  private readonly duration: Histogram<'kind'>;
  private readonly enqueued: Counter<'disposition' | 'kind'>;
  private readonly finished: Counter<'kind' | 'result'>;
  private readonly leaseLost: Counter<'kind'>;
  private readonly overrun: Counter<'kind'>;
  private readonly running: Gauge<'kind'>;
  private readonly wait: Histogram<'kind'>;

  /** `vitals` answers what runs in this process, at each scrape. */
  constructor(make: SeriesFactory, buckets: Buckets, vitals: () => RunnerVitals | undefined) {
    this.enqueued = make.counter(
      'jobs_enqueued_total',
      'Requests for jobs that this process has committed, by their answer; unconfirmed: in a transaction whose end it cannot know.',
      ['kind', 'disposition'],
    );
    this.claimed = make.counter('jobs_claimed_total', 'Jobs that this process has claimed and begun.', ['kind']);
    this.finished = make.counter(
      'jobs_finished_total',
      'Jobs that ended, and runs that ended with a repetition, by how.',
      ['kind', 'result'],
    );
    this.attemptsFailed = make.counter('attempts_failed_total', 'Attempts that failed, by the class of failure.', [
      'kind',
      'class',
    ]);
    this.deadLettered = make.counter('jobs_dead_lettered_total', 'Jobs that became a dead letter.', ['kind']);
    this.leaseLost = make.counter('jobs_lease_lost_total', 'Runs whose lease was no longer theirs at their end.', [
      'kind',
    ]);
    this.overrun = make.counter('jobs_handler_overrun_total', 'Handlers that went on after they were told to stop.', [
      'kind',
    ]);
    this.duration = make.histogram('job_duration_seconds', 'How long attempts took.', ['kind'], buckets.duration);
    this.wait = make.histogram(
      'job_wait_seconds',
      'From the moment a job was due until it was begun, by the clock of the database.',
      ['kind'],
      buckets.wait,
    );
    this.running = make.gauge('jobs_running', 'Jobs that run in this process now.', ['kind'], (gauge) => {
      const counts = new Map(this.kinds.labels.map((kind) => [kind, 0]));
      for (const [kind, count] of Object.entries(vitals()?.runningByKind ?? {}))
        counts.set(this.kinds.labelOf(kind), counts.get(this.kinds.labelOf(kind))! + count);
      for (const [kind, count] of counts) gauge.set({ kind }, count);
    });
    this.kinds = new KindFold((kind) => this.zero(kind));
  }

  take(event: QueueEvent): void {
    switch (event.type) {
      case 'job.enqueued': {
        const disposition = event.confirmed ? event.disposition : 'unconfirmed';
        return this.enqueued.inc({ disposition, kind: this.kinds.labelOf(event.kind) }, event.jobs);
      }
      case 'reap.done':
        for (const { kind } of event.result.cancelled) this.finish(this.kinds.labelOf(kind), 'cancelled');
        for (const { kind } of event.result.returned) this.fail(this.kinds.labelOf(kind), 'lease_expired');
        for (const { kind } of event.result.deadLettered) this.bury(this.kinds.labelOf(kind), 'lease_expired');
        return;
      case 'runner.started':
        return this.kinds.admit(event.kinds);
    }
    if (!('run' in event)) return;
    const kind = this.kinds.labelOf(event.run.kind);
    if ('ranMs' in event) this.duration.observe({ kind }, event.ranMs / 1_000);
    switch (event.type) {
      case 'job.started':
        this.claimed.inc({ kind });
        return this.wait.observe({ kind }, event.waitedMs / 1_000);
      case 'job.completed':
        return this.finish(kind, event.verb === 'repeat' ? 'repeated' : 'succeeded');
      case 'job.cancelled':
        return this.finish(kind, 'cancelled');
      case 'job.refused':
        return this.finish(kind, 'refused');
      case 'job.retried':
        return this.fail(kind, event.failureClass);
      case 'job.deferred':
        return this.fail(kind, event.verb === 'lose' ? 'connection_lost' : event.failureClass);
      case 'job.dead_lettered':
        return this.bury(kind, event.failureClass);
      case 'job.lost':
        return this.leaseLost.inc({ kind });
      case 'job.overrun':
        if (!event.returned) this.overrun.inc({ kind });
    }
  }

  private bury(kind: string, as: FailedAs): void {
    this.fail(kind, as);
    this.finish(kind, 'dead_lettered');
    this.deadLettered.inc({ kind });
  }

  private fail(kind: string, as: FailedAs): void {
    this.attemptsFailed.inc({ class: as, kind });
  }

  private finish(kind: string, result: Result): void {
    this.finished.inc({ kind, result });
  }

  private zero(kind: string): void {
    for (const disposition of DISPOSITIONS) this.enqueued.inc({ disposition, kind }, 0);
    for (const result of RESULTS) this.finished.inc({ kind, result }, 0);
    for (const as of CLASSES) this.attemptsFailed.inc({ class: as, kind }, 0);
    for (const counter of [this.claimed, this.deadLettered, this.leaseLost, this.overrun]) counter.inc({ kind }, 0);
    for (const histogram of [this.duration, this.wait]) histogram.zero({ kind });
  }
}
