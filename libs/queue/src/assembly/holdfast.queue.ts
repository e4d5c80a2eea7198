import type { ControlConnections, UnitOfWork } from '@holdfast/kernel';
import type { JobQueue } from '../client/job-queue.js';
import type { JobDefinition } from '../domain/definition.js';
import { QueueClosedError } from '../errors/queue-closed.error.js';
import type { AnyJobDefinition, AttachedHandler, DetachedHandler } from '../handlers/handler.interface.js';
import { modeOf } from '../handlers/handler.check.js';
import { type GivenHandler, handlerEntry } from '../handlers/handler.entry.js';
import { JobHandlerRegistry } from '../handlers/job-handler.registry.js';
import { interceptOptions, JobInterceptorRegistry } from '../handlers/job-interceptor.registry.js';
import type { InterceptOptions, Intercepting } from '../handlers/job.interceptor.js';
import type { JobStore } from '../ports/job-store.js';
import type { Jobs } from '../ports/jobs.js';
import { SilentReporter } from '../runner/silent.reporter.js';
import type { Runner } from '../runner/runner.js';
import type { QueueOptions, ResolvedQueueOptions } from './queue.options.js';
import { resolveQueueOptions } from './queue.options.check.js';
import {
  connectionConfigOf,
  connectionsOf,
  jobQueueOf,
  jobsOf,
  runnerOf,
  storeOf,
  unitOfWorkOf,
} from './queue.parts.js';
import { seedJobs } from './job.seeding.js';
import { prepareTables } from './table.preparation.js';

/**
 * HoldfastQueue is a queue without NestJS: `createQueue({ database: pgPool(pool) })`.
 *
 * A producer calls `prepare()` once and enqueues; a worker names its handlers with `handle` and calls `start()`. `close()` ends both, after which it
 * takes nothing more.
 */
export class HoldfastQueue {
  /** jobs is what producers use: the JobQueue that Nest injects. It finds none. */
  readonly jobs: JobQueue;
  /** lookup reads jobs for people and routes: the Jobs that Nest injects, `lookup.find(id)`. */
  readonly lookup: Jobs;
  /** interceptors hold what `intercept` was given. */
  readonly interceptors = new JobInterceptorRegistry();
  /** registry holds what `handle` was given. */
  readonly registry = new JobHandlerRegistry();
  /** runner runs the jobs; `start` and `close` start and stop it. `runner.events` hands on what happens. */
  readonly runner: Runner;
  /** store keeps the jobs; `close` closes it. */
  readonly store: JobStore;
  /** unitOfWork opens transactions that enqueues join. */
  readonly unitOfWork: UnitOfWork;
  private closing: Promise<void> | undefined;
  private readonly connections: ControlConnections;
  private readonly options: ResolvedQueueOptions;

  /** Throws InvalidQueueOptionsError with every problem at once. Nothing is opened yet. */
  constructor(options: QueueOptions) {
    this.options = resolveQueueOptions(options);
    const { database } = this.options;
    this.connections = connectionsOf(this.options);
    this.store = storeOf(this.options, this.connections);
    this.lookup = jobsOf(this.options, this.connections);
    this.unitOfWork = unitOfWorkOf(this.options, database);
    const reporter = this.options.reporter ?? new SilentReporter();
    this.runner = runnerOf(this.options, {
      database,
      interceptors: this.interceptors,
      registry: this.registry,
      reporter,
      store: this.store,
    });
    this.jobs = jobQueueOf(this.options, database, this.store, this.runner);
  }

  /** close drains the runner and ends the queue's own connections; the application's database is its own. Idempotent. */
  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  /**
   * handle names the handler of a definition, before `start`. Throws DuplicateHandlerError for a second one of its kind, NotADefinitionError without
   * a definition, and InvalidHandlerError for what is no object with `run`, an option that there is not, and after `start`.
   */
  handle<D extends AnyJobDefinition>(definition: D, handler: AttachedHandler<D>): this;
  handle<D extends AnyJobDefinition>(
    definition: D,
    handler: DetachedHandler<D>,
    options: { readonly detached: true },
  ): this;
  handle(
    definition: AnyJobDefinition,
    handler: AttachedHandler | DetachedHandler,
    options?: { readonly detached: true },
  ): this {
    const source = nameOf(handler, 'given to handle()');
    const mode = modeOf(source, options);
    this.registry.register(handlerEntry({ definition, handler, mode, source } as GivenHandler));
    return this;
  }

  /**
   * intercept puts an interceptor around every handler call, or around those of `only`, before `start`; a lower `order` is further outside (R20).
   * Throws InvalidInterceptorError for what has no `intercept`, an option that there is not, and after `start`.
   */
  intercept(interceptor: Intercepting<JobDefinition>, options?: { readonly order?: number }): this;
  intercept<D extends AnyJobDefinition>(
    interceptor: Intercepting<D>,
    options: { readonly only: readonly D[]; readonly order?: number },
  ): this;
  intercept(interceptor: Intercepting<never>, options?: InterceptOptions): this {
    const source = nameOf(interceptor, 'given to intercept()');
    this.interceptors.register({ ...interceptOptions(source, options), interceptor, source });
    return this;
  }

  /** prepare checks the tables, or brings them up, as `migrations` says, and seeds the jobs of `ensure`. Throws QueueClosedError after a `close`. */
  async prepare(): Promise<void> {
    if (this.closing) throw new QueueClosedError();
    const { options } = this;
    await prepareTables({
      config: () => connectionConfigOf(options),
      connections: () => connectionsOf(options),
      mode: options.migrations,
      schema: options.schema,
    });
    if (!this.closing) await seedJobs(options, this.store);
  }

  /** start prepares the tables and runs jobs until `close`. Throws QueueClosedError after a `close`; one that comes meanwhile lets nothing begin. */
  async start(): Promise<void> {
    this.registry.seal();
    this.interceptors.seal();
    await this.prepare();
    // A close may have come meanwhile: nothing begins after it (K118).
    if (this.closing) return this.closing;
    await this.runner.start();
  }

  /** Whatever fails, nothing after it stays open. */
  private async end(): Promise<void> {
    try {
      await this.runner.close();
    } finally {
      await this.store.close().finally(() => this.connections.close());
    }
  }
}

function nameOf(given: unknown, otherwise: string): string {
  const name: unknown = (given as { constructor?: { name?: unknown } } | null | undefined)?.constructor?.name;
  return typeof name === 'string' && !['', 'Function', 'Object'].includes(name) ? name : otherwise;
}

/** createQueue makes a queue without NestJS. Throws InvalidQueueOptionsError with every problem at once; nothing is opened yet. */
export function createQueue(options: QueueOptions): HoldfastQueue {
  return new HoldfastQueue(options);
}
