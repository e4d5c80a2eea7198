import { ControlConnections, Database, UnitOfWork } from '@holdfast/kernel';
import type { InjectionToken, OptionalFactoryDependency, Provider } from '@nestjs/common';
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
import { ListenerDiscovery } from '../handlers/listener.discovery.js';
import { HandlerDiscovery } from '../handlers/nest.discovery.js';
import { UnprovidedClasses } from '../handlers/unprovided.classes.js';
import { DutyLedger } from '../ports/duty.ledger.js';
import { JobStore } from '../ports/job-store.js';
import { Jobs } from '../ports/jobs.js';
import { Leadership } from '../ports/leadership.js';
import { Reporter } from '../ports/reporter.js';
import { RunnerRoster } from '../ports/runner.roster.js';
import { LoggingReporter } from '../runner/logging.reporter.js';
import { Runner } from '../runner/runner.js';
import { DutyDiscovery } from '../scheduler/duty.discovery.js';
import { Scheduler } from '../scheduler/scheduler.js';
import { healthProviders } from './health.providers.js';
import { nestLogSink } from './nest.log-sink.js';
import { QueueLifecycle, type QueueLifecycleParts } from './queue.lifecycle.js';
import { QUEUE_OPTIONS, RAW_OPTIONS } from './queue.module-options.js';
import type { QueueRoles } from './queue.roles.js';
import { ledgerProviders, scheduleProviders } from './schedule.providers.js';

/** What every process provides to the application. */
export const SHARED_EXPORTS = [Database, DutyLedger, JobQueue, Jobs, JobStore, QueueLifecycle, UnitOfWork];

/** What a process with the role run provides besides. */
export const RUN_EXPORTS = [Reporter, Runner];

const sharedProviders: Provider[] = [
  { provide: Database, inject: [QUEUE_OPTIONS], useFactory: ({ database }: ResolvedQueueOptions) => database },
  { provide: ControlConnections, inject: [QUEUE_OPTIONS], useFactory: connectionsOf },
  { provide: JobStore, inject: [QUEUE_OPTIONS, ControlConnections], useFactory: storeOf },
  {
    provide: Jobs,
    inject: [QUEUE_OPTIONS, ControlConnections, { token: Runner, optional: true }],
    useFactory: jobsOf,
  },
  { provide: UnitOfWork, inject: [QUEUE_OPTIONS, Database], useFactory: unitOfWorkOf },
];

/** What happens is told in a process that runs jobs or schedules: to the reporter, and to listeners. */
const telling: Provider[] = [
  DecoratedExplorer,
  JobEventExplorer,
  ListenerDiscovery,
  UnprovidedClasses,
  {
    provide: JobEventDispatcher,
    inject: [Reporter],
    useFactory: (reporter: Reporter) => new JobEventDispatcher(reporter),
  },
  {
    provide: Reporter,
    inject: [QUEUE_OPTIONS],
    useFactory: (options: ResolvedQueueOptions) => options.reporter ?? new LoggingReporter(nestLogSink()),
  },
];

const runProviders: Provider[] = [
  HandlerDiscovery,
  JobHandlerExplorer,
  JobInterceptorExplorer,
  { provide: JobQueue, inject: [QUEUE_OPTIONS, Database, JobStore, Runner, Reporter], useFactory: jobQueueOf },
  { provide: JobHandlerRegistry, useFactory: () => new JobHandlerRegistry() },
  { provide: JobInterceptorRegistry, useFactory: () => new JobInterceptorRegistry() },
  {
    provide: Runner,
    inject: [
      QUEUE_OPTIONS,
      Database,
      JobInterceptorRegistry,
      JobHandlerRegistry,
      Reporter,
      RunnerRoster,
      JobStore,
      HealthProbe,
      { token: Leadership, optional: true },
    ],
    useFactory: (
      options: ResolvedQueueOptions,
      database: Database,
      interceptors: JobInterceptorRegistry,
      registry: JobHandlerRegistry,
      reporter: Reporter,
      roster: RunnerRoster,
      store: JobStore,
      probe: HealthProbe,
      leadership?: Leadership,
    ) => runnerOf(options, { database, interceptors, leadership, probe, registry, reporter, roster, store }),
  },
];

/** The optional parts of a process are injected where its roles provide them. */
const optional = (token: InjectionToken): OptionalFactoryDependency => ({ token, optional: true });

/** queueProviders answers the providers of a process with these roles. */
export function queueProviders(roles: QueueRoles): Provider[] {
  const options: Provider = {
    provide: QUEUE_OPTIONS,
    inject: [RAW_OPTIONS],
    useFactory: (raw: QueueOptions) => resolveQueueOptions(raw, roles.problems),
  };
  return [
    options,
    ...sharedProviders,
    ...ledgerProviders,
    ...healthProviders(roles),
    ...(roles.run || roles.schedule ? telling : []),
    ...(roles.run ? runProviders : [plainJobQueue]),
    ...(roles.schedule ? scheduleProviders : []),
    lifecycle(),
  ];
}

/** Where no runner learns of what is committed here. */
const plainJobQueue: Provider = {
  provide: JobQueue,
  inject: [QUEUE_OPTIONS, Database, JobStore, optional(Reporter)],
  useFactory: (options: ResolvedQueueOptions, database: Database, store: JobStore, reporter?: Reporter) =>
    jobQueueOf(options, database, store, undefined, reporter ?? options.reporter),
};

function lifecycle(): Provider {
  const shared = [ModulesContainer, QUEUE_OPTIONS, ControlConnections, JobStore, HealthProbe, JobQueue];
  const running = [JobEventDispatcher, HandlerDiscovery, JobHandlerRegistry, Runner].map(optional);
  const scheduling = [DutyDiscovery, Leadership, Scheduler].map(optional);
  return {
    provide: QueueLifecycle,
    inject: [...shared, ...running, ...scheduling],
    useFactory: (
      modules: ModulesContainer,
      resolved: ResolvedQueueOptions,
      connections: ControlConnections,
      store: JobStore,
      probe: HealthProbe,
      jobs: JobQueue,
      dispatcher?: JobEventDispatcher,
      discovery?: HandlerDiscovery,
      registry?: JobHandlerRegistry,
      runner?: Runner,
      duties?: DutyDiscovery,
      leadership?: Leadership,
      scheduler?: Scheduler,
    ) => {
      const parts: QueueLifecycleParts = {
        connections,
        dispatcher,
        jobs,
        modules,
        options: resolved,
        probe,
        running: discovery && registry && runner && { discovery, registry, runner },
        scheduling: duties && leadership && scheduler && { duties, leadership, scheduler },
        store,
      };
      return new QueueLifecycle(parts);
    },
  };
}
