import { ControlConnections, Database, UnitOfWork } from '@holdfast/kernel';
import type { Provider } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { HealthProbe } from '../assembly/health.probe.js';
import type { QueueOptions, ResolvedQueueOptions } from '../assembly/queue.options.js';
import { resolveQueueOptions } from '../assembly/queue.options.check.js';
import { connectionsOf, jobQueueOf, jobsOf, runnerOf, storeOf, unitOfWorkOf } from '../assembly/queue.parts.js';
import { JobQueue } from '../client/job-queue.js';
import { DecoratedExplorer } from '../handlers/decorated.explorer.js';
import { JobEventDispatcher } from '../handlers/job-event.dispatcher.js';
import { JobEventExplorer } from '../handlers/job-event.explorer.js';
import { JobHandlerExplorer } from '../handlers/job-handler.explorer.js';
import { JobHandlerRegistry } from '../handlers/job-handler.registry.js';
import { JobInterceptorExplorer } from '../handlers/job-interceptor.explorer.js';
import { JobInterceptorRegistry } from '../handlers/job-interceptor.registry.js';
import { HandlerDiscovery } from '../handlers/nest.discovery.js';
import { JobStore } from '../ports/job-store.js';
import { Jobs } from '../ports/jobs.js';
import { Reporter } from '../ports/reporter.js';
import { LoggingReporter } from '../runner/logging.reporter.js';
import { Runner } from '../runner/runner.js';
import { healthProviders } from './health.providers.js';
import { nestLogSink } from './nest.log-sink.js';
import { QueueLifecycle, type QueueLifecycleParts } from './queue.lifecycle.js';
import { QUEUE_OPTIONS, RAW_OPTIONS } from './queue.module-options.js';
import type { QueueRoles } from './queue.roles.js';

/** What every process provides to the application. */
export const SHARED_EXPORTS = [Database, JobQueue, Jobs, JobStore, QueueLifecycle, UnitOfWork];

/** What a process with the role run provides besides. */
export const RUN_EXPORTS = [Reporter, Runner];

const sharedProviders: Provider[] = [
  { provide: Database, inject: [QUEUE_OPTIONS], useFactory: ({ database }: ResolvedQueueOptions) => database },
  { provide: ControlConnections, inject: [QUEUE_OPTIONS], useFactory: connectionsOf },
  { provide: JobStore, inject: [QUEUE_OPTIONS, ControlConnections], useFactory: storeOf },
  { provide: Jobs, inject: [QUEUE_OPTIONS, ControlConnections], useFactory: jobsOf },
  { provide: UnitOfWork, inject: [QUEUE_OPTIONS, Database], useFactory: unitOfWorkOf },
];

const runProviders: Provider[] = [
  DecoratedExplorer,
  HandlerDiscovery,
  JobEventExplorer,
  JobHandlerExplorer,
  JobInterceptorExplorer,
  {
    provide: JobEventDispatcher,
    inject: [Reporter],
    useFactory: (reporter: Reporter) => new JobEventDispatcher(reporter),
  },
  { provide: JobQueue, inject: [QUEUE_OPTIONS, Database, JobStore, Runner], useFactory: jobQueueOf },
  { provide: JobHandlerRegistry, useFactory: () => new JobHandlerRegistry() },
  { provide: JobInterceptorRegistry, useFactory: () => new JobInterceptorRegistry() },
  {
    provide: Reporter,
    inject: [QUEUE_OPTIONS],
    useFactory: ({ reporter }: ResolvedQueueOptions) => reporter ?? new LoggingReporter(nestLogSink()),
  },
  {
    provide: Runner,
    inject: [QUEUE_OPTIONS, Database, JobInterceptorRegistry, JobHandlerRegistry, Reporter, JobStore],
    useFactory: (
      options: ResolvedQueueOptions,
      database: Database,
      interceptors: JobInterceptorRegistry,
      registry: JobHandlerRegistry,
      reporter: Reporter,
      store: JobStore,
    ) => runnerOf(options, { database, interceptors, registry, reporter, store }),
  },
];

type Lifecycle = Omit<QueueLifecycleParts, 'running'>;

/** queueProviders answers the providers of a process with these roles; `queueModule` is the class that is counted to find a second one. */
export function queueProviders(roles: QueueRoles, queueModule: unknown): Provider[] {
  const options: Provider = {
    provide: QUEUE_OPTIONS,
    inject: [RAW_OPTIONS],
    useFactory: (raw: QueueOptions) => resolveQueueOptions(raw, roles.problems),
  };
  const parts = (
    modules: ModulesContainer,
    resolved: ResolvedQueueOptions,
    connections: ControlConnections,
    store: JobStore,
    probe: HealthProbe,
  ): Lifecycle => ({
    connections,
    modules,
    options: resolved,
    probe,
    store,
  });
  const inject = [ModulesContainer, QUEUE_OPTIONS, ControlConnections, JobStore, HealthProbe];
  if (!roles.run) {
    const jobQueue = { provide: JobQueue, inject: [QUEUE_OPTIONS, Database, JobStore], useFactory: jobQueueOf };
    const lifecycle: Provider = {
      provide: QueueLifecycle,
      inject,
      useFactory: (...given: Parameters<typeof parts>) =>
        new QueueLifecycle({ ...parts(...given), running: undefined }, queueModule),
    };
    return [options, ...sharedProviders, ...healthProviders(roles), jobQueue, lifecycle];
  }
  const lifecycle: Provider = {
    provide: QueueLifecycle,
    inject: [HandlerDiscovery, JobEventDispatcher, JobHandlerRegistry, Runner, ...inject],
    useFactory: (
      discovery: HandlerDiscovery,
      dispatcher: JobEventDispatcher,
      registry: JobHandlerRegistry,
      runner: Runner,
      ...given: Parameters<typeof parts>
    ) => new QueueLifecycle({ ...parts(...given), running: { discovery, dispatcher, registry, runner } }, queueModule),
  };
  return [options, ...sharedProviders, ...healthProviders(roles), ...runProviders, lifecycle];
}
