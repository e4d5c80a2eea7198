/**
 * The queue as NestJS modules import it. Definitions alone, without Nest and without a database: `@holdfast/queue/define`;
 * the queue without Nest: `@holdfast/queue/core`.
 */
export * from './core.js';
export { JobHandler, type JobHandlerOptions } from './handlers/job-handler.decorator.js';
export { QueueModule } from './module/queue.module.js';
export type {
  QueueModuleAsyncOptions,
  QueueModuleOptions,
  QueueOptionsFactory,
  RolesOption,
} from './module/queue.module-options.js';
export type { QueueRole } from './module/queue.roles.js';
