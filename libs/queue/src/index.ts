/**
 * The queue as NestJS modules import it. Definitions alone, without Nest and without a database: `@holdfast/queue/define`;
 * the queue without Nest: `@holdfast/queue/core`.
 */
export * from './core.js';
export { InterceptJobs } from './handlers/intercept-jobs.decorator.js';
export { type BatchHandlerOptions, JobHandler, type JobHandlerOptions } from './handlers/job-handler.decorator.js';
export type { ListenableEvent } from './handlers/listenable.events.js';
export { OnJobEvent } from './handlers/on-job-event.decorator.js';
export { HealthPortError } from './errors/health-port.error.js';
export { StartUnfinishedError } from './errors/start-unfinished.error.js';
export {
  type HealthCheckOptions,
  type HealthFinding,
  HealthIndicator,
  type HealthResult,
  type HealthStatus,
} from './health/health.indicator.js';
export { LeadershipHealthIndicator, type LeadershipHealthOptions } from './health/leadership.health-indicator.js';
export { QueueDatabaseHealthIndicator } from './health/queue-database.health-indicator.js';
export { QueueMigrationsHealthIndicator } from './health/queue-migrations.health-indicator.js';
export type { MetricsSource } from './health/health.server.js';
export type { HealthCheck } from './health/readiness.js';
export { RunnerHealthIndicator, type RunnerHealthOptions } from './health/runner.health-indicator.js';
export { QueueModule } from './module/queue.module.js';
export type {
  QueueModuleAsyncOptions,
  QueueModuleOptions,
  QueueOptionsFactory,
  RolesOption,
} from './module/queue.module-options.js';
export type { QueueRole } from './module/queue.roles.js';
export {
  type ContextOptions,
  type RootModule,
  runWorker,
  type RunningWorker,
  type RunWorkerOptions,
} from './module/run-worker.js';
export { LeaderDuty } from './scheduler/leader-duty.decorator.js';
