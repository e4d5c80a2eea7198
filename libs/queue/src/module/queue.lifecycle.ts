import type { ControlConnections } from '@holdfast/kernel';
import type { OnApplicationBootstrap, OnApplicationShutdown, OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import type { HealthProbe } from '../assembly/health.probe.js';
import type { ResolvedQueueOptions } from '../assembly/queue.options.js';
import type { JobQueue } from '../client/job-queue.js';
import { seedJobs } from '../assembly/job.seeding.js';
import { connectionConfigOf, connectionsOf } from '../assembly/queue.parts.js';
import { prepareTables } from '../assembly/table.preparation.js';
import { NoHandlersError } from '../errors/no-handlers.error.js';
import { SecondQueueError } from '../errors/second-queue.error.js';
import type { JobEventDispatcher } from '../handlers/job-event.dispatcher.js';
import type { JobHandlerRegistry } from '../handlers/job-handler.registry.js';
import type { HandlerDiscovery } from '../handlers/nest.discovery.js';
import type { JobStore } from '../ports/job-store.js';
import type { Leadership } from '../ports/leadership.js';
import type { Runner } from '../runner/runner.js';
import { resolveRunnerOptions } from '../runner/runner.options.js';
import type { DutyDiscovery } from '../scheduler/duty.discovery.js';
import type { Scheduler } from '../scheduler/scheduler.js';
import { RAW_OPTIONS } from './queue.module-options.js';

/** RunningParts are what a process with the role run has besides. */
export interface RunningParts {
  readonly discovery: HandlerDiscovery;
  readonly registry: JobHandlerRegistry;
  readonly runner: Runner;
}

/** SchedulingParts are what a process with the role schedule has besides. */
export interface SchedulingParts {
  readonly duties: DutyDiscovery;
  readonly leadership: Leadership;
  readonly scheduler: Scheduler;
}

/** QueueLifecycleParts are what is started and stopped. */
export interface QueueLifecycleParts {
  readonly connections: ControlConnections;
  /** dispatcher tells the listeners; undefined in a process that neither runs jobs nor schedules, where nothing happens. */
  readonly dispatcher: JobEventDispatcher | undefined;
  readonly jobs: JobQueue;
  readonly modules: ModulesContainer;
  readonly options: ResolvedQueueOptions;
  readonly probe: HealthProbe;
  /** running is undefined in a process that runs no jobs. */
  readonly running: RunningParts | undefined;
  /** scheduling is undefined in a process that does not stand for leadership. */
  readonly scheduling: SchedulingParts | undefined;
  readonly store: JobStore;
}

/**
 * QueueLifecycle ties the queue to the application's: the only file with lifecycle hooks of Nest.
 *
 * Its own hooks are those of a global module, which Nest calls first at the start and last at the end: handlers are found and tables
 * checked before any provider of the application begins; connections are closed when all of them are done, requests in flight included. `edge` is
 * the other way round: jobs are seeded and the runner starts when everything else is up, and it drains before anything else is taken down, in
 * whatever order modules were imported (R17, K27).
 *
 * Whatever fails here closes everything here at once. NestJS 11 calls no hook at all at the close of an application whose start has failed, so until
 * the edge has started nothing is left open that the application itself did not ask for.
 */
export class QueueLifecycle implements OnApplicationShutdown, OnModuleInit {
  private closed: Promise<void> | undefined;
  private drained: Promise<void> | undefined;

  constructor(private readonly parts: QueueLifecycleParts) {}

  /** edge answers the hooks of the module at the lowest distance: last to start, first to stop. */
  edge(): OnApplicationBootstrap & OnModuleDestroy {
    return { onApplicationBootstrap: () => this.start(), onModuleDestroy: () => this.drain() };
  }

  onApplicationShutdown(): Promise<void> {
    return this.close();
  }

  async onModuleInit(): Promise<void> {
    const { options } = this.parts;
    try {
      this.refuseSecond();
      this.registerHandlers();
      this.registerDuties();
      await prepareTables({
        config: () => connectionConfigOf(options),
        connections: () => connectionsOf(options),
        mode: options.migrations,
        schema: options.schema,
      });
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  private close(): Promise<void> {
    this.closed ??= this.closeAll();
    return this.closed;
  }

  /** Whatever fails, nothing after it stays open. */
  private async closeAll(): Promise<void> {
    try {
      await this.drain();
    } finally {
      const { connections, probe, scheduling, store } = this.parts;
      const ended = Promise.all([store.close(), scheduling?.leadership.close()]);
      await ended.finally(() => Promise.all([connections.close(), probe.close()]));
    }
  }

  /** From here on nothing starts any more, by hand neither. */
  private drain(): Promise<void> {
    this.drained ??= this.drainAll();
    return this.drained;
  }

  /** Listeners may need what is taken down after the drain, so they hear its last events before. */
  private async drainAll(): Promise<void> {
    const { dispatcher, running, scheduling } = this.parts;
    const ended = Promise.all([scheduling?.scheduler.close(), running?.runner.close()]);
    await ended.finally(() => dispatcher?.close());
  }

  private refuseSecond(): void {
    // The bare class beside it sets nothing up.
    const count = [...this.parts.modules.values()].filter(({ providers }) => providers.has(RAW_OPTIONS)).length;
    if (count > 1) throw new SecondQueueError(count);
  }

  private registerDuties(): void {
    const { dispatcher, jobs, scheduling } = this.parts;
    scheduling?.duties.register();
    dispatcher?.hear(jobs.events);
    if (scheduling) dispatcher?.hear(scheduling.scheduler.events);
  }

  private registerHandlers(): void {
    const { dispatcher, options, running } = this.parts;
    if (!running) return;
    running.discovery.register();
    dispatcher?.hear(running.runner.events);
    const { kinds } = running.registry;
    const { handles } = resolveRunnerOptions(options.run, 'check');
    if (!kinds.some(handles)) throw new NoHandlersError(kinds, running.discovery.unprovided());
  }

  private async start(): Promise<void> {
    const { options, running, scheduling, store } = this.parts;
    // A signal may have come while the application was starting (K118).
    if (this.drained) return;
    try {
      await seedJobs(options, store);
      if (options.autoStart && !this.drained) await running?.runner.start();
      if (options.autoStart && !this.drained) await scheduling?.scheduler.start();
    } catch (error) {
      await this.close();
      throw error;
    }
  }
}
