import { JobQueue } from '../client/job-queue.js';
import { Runner } from '../runner/runner.js';
import { Scheduler } from '../scheduler/scheduler.js';
import { QueueMetrics, type QueueMetricsOptions } from './queue.metrics.js';

/** MetricsModule is a dynamic module of NestJS by its shape: declarations that name Nest could not be read without it. */
export interface MetricsModule {
  exports: (typeof QueueMetrics)[];
  module: typeof QueueMetricsModule;
  providers: {
    inject: (typeof JobQueue | { optional: true; token: typeof Runner | typeof Scheduler })[];
    provide: typeof QueueMetrics;
    useFactory: (jobs: JobQueue, runner?: Runner, scheduler?: Scheduler) => QueueMetrics;
  }[];
}

/**
 * QueueMetricsModule keeps the series of the application's queue: `QueueMetricsModule.forRoot({ produces: [SendReceipt] })` beside `QueueModule`.
 *
 * It has no decorator and loads nothing of NestJS, so that the entry point serves a queue without Nest as well.
 */
export class QueueMetricsModule {
  /** forRoot listens to the JobQueue, Runner and Scheduler that the roles of this process provide, and exports QueueMetrics. */
  static forRoot(options: QueueMetricsOptions = {}): MetricsModule {
    const optional = true;
    return {
      module: QueueMetricsModule,
      exports: [QueueMetrics],
      providers: [
        {
          provide: QueueMetrics,
          inject: [JobQueue, { token: Runner, optional }, { token: Scheduler, optional }],
          useFactory: (jobs, runner, scheduler) => new QueueMetrics({ jobs, runner, scheduler }, options),
        },
      ],
    };
  }
}
