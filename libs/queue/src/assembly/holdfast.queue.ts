import type { ControlConnections, UnitOfWork } from '@holdfast/kernel';
import type { JobQueue } from '../client/job-queue.js';
import type { JobDefinition } from '../domain/definition.js';
import { InvalidDutyError } from '../errors/invalid-duty.error.js';
import { QueueClosedError } from '../errors/queue-closed.error.js';
import type {
  AnyJobDefinition,
  AttachedHandler,
  BatchHandler,
  DetachedHandler,
} from '../handlers/handler.interface.js';
import { mannerOf } from '../handlers/handler.check.js';
import { type GivenHandler, handlerEntry } from '../handlers/handler.entry.js';
import { JobHandlerRegistry } from '../handlers/job-handler.registry.js';
import { interceptOptions, JobInterceptorRegistry } from '../handlers/job-interceptor.registry.js';
import type { InterceptOptions, Intercepting } from '../handlers/job.interceptor.js';
import type { Duty, DutyOptions } from '../ports/duty.js';
import type { JobStore } from '../ports/job-store.js';
import type { Jobs } from '../ports/jobs.js';
import type { Leadership } from '../ports/leadership.js';
import { SilentReporter } from '../runner/silent.reporter.js';
import type { Runner } from '../runner/runner.js';
import { checkedPlan, DutyRegistry } from '../scheduler/duty.registry.js';
import type { Scheduler } from '../scheduler/scheduler.js';
import type { QueueOptions, ResolvedQueueOptions } from './queue.options.js';
import { resolveQueueOptions } from './queue.options.check.js';
import {
  connectionConfigOf,
  connectionsOf,
  housekeepingOf,
  jobQueueOf,
  jobsOf,
  leadershipOf,
  ledgerOf,
  rosterOf,
  runnerOf,
  schedulerOf,
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
  /** leadership decides who leads: applications stand for names of their own there. `close` closes it. */
  readonly leadership: Leadership;
  /** lookup shows jobs to people and routes, and changes them: the Jobs that Nest injects, `lookup.find(id)`, `lookup.requeue(id)`. */
  readonly lookup: Jobs;
  /** duties hold what `duty` was given. */
  readonly duties = new DutyRegistry();
  /** interceptors hold what `intercept` was given. */
  readonly interceptors = new JobInterceptorRegistry();
  /** registry holds what `handle` was given. */
  readonly registry = new JobHandlerRegistry();
  /** runner runs the jobs; `start` and `close` start and stop it. `runner.events` hands on what happens. */
  readonly runner: Runner;
  /** scheduler runs the duties of the leader; `start` and `close` start and stop it. `scheduler.events` hands on what happens. */
  readonly scheduler: Scheduler;
  /** store keeps the jobs; `close` closes it. */
  readonly store: JobStore;
  /** unitOfWork opens transactions that enqueues join. */
  readonly unitOfWork: UnitOfWork;
  private closing: Promise<void> | undefined;
  private readonly connections: ControlConnections;
  private hasDuties = false;
  private readonly options: ResolvedQueueOptions;

  /** Throws InvalidQueueOptionsError with every problem at once. Nothing is opened yet. */
  constructor(options: QueueOptions) {
    this.options = resolveQueueOptions(options);
    const { database } = this.options;
    this.connections = connectionsOf(this.options);
    this.store = storeOf(this.options, this.connections);
    this.unitOfWork = unitOfWorkOf(this.options, database);
    const reporter = this.options.reporter ?? new SilentReporter();
    const roster = rosterOf(this.options, this.connections);
    this.leadership = leadershipOf(this.options, this.connections);
    this.runner = runnerOf(this.options, {
      database,
      interceptors: this.interceptors,
      leadership: this.leadership,
      registry: this.registry,
      reporter,
      roster,
      store: this.store,
    });
    this.scheduler = schedulerOf(this.options, {
      duties: this.duties,
      handlers: this.registry,
      housekeeping: housekeepingOf(this.options, this.connections),
      leadership: this.leadership,
      ledger: ledgerOf(this.options, this.connections),
      reporter,
      roster,
      store: this.store,
    });
    this.jobs = jobQueueOf(this.options, database, this.store, this.runner, reporter);
    this.lookup = jobsOf(this.options, this.connections, this.runner);
  }

  /** close drains the runner and ends the queue's own connections; the application's database is its own. Idempotent. */
  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  /**
   * duty names a duty of the leader, before `start`: `queue.duty({ name: 'report.sweep', every: '1h' }, (ctx) => …)` (S3). Throws InvalidDutyError for
   * options that are wrong and after `start`, and DuplicateDutyError for a second one of its name.
   */
  duty(options: DutyOptions, run: Duty): this {
    const source = `${String((options as Partial<DutyOptions> | undefined)?.name)}, given to duty()`;
    const plan = checkedPlan(source, options);
    if (typeof run !== 'function') throw new InvalidDutyError(source, 'it is no function of a DutyContext');
    this.duties.register({ ...plan, identity: run, run, source });
    this.hasDuties = true;
    return this;
  }

  /**
   * handle names the handler of a definition, before `start`. Throws DuplicateHandlerError for a second one of its kind, NotADefinitionError without
   * a definition, and InvalidHandlerError for what is no object with `run` (with `batch`: `runBatch`), an option that there is not, and after `start`.
   */
  handle<D extends AnyJobDefinition>(definition: D, handler: AttachedHandler<D>): this;
  handle<D extends AnyJobDefinition>(
    definition: D,
    handler: DetachedHandler<D>,
    options: { readonly detached: true },
  ): this;
  handle<D extends AnyJobDefinition>(
    definition: D,
    handler: BatchHandler<D>,
    options: { readonly batch: { readonly size: number } },
  ): this;
  handle(
    definition: AnyJobDefinition,
    handler: AttachedHandler | BatchHandler | DetachedHandler,
    options?: object,
  ): this {
    const source = nameOf(handler, 'given to handle()');
    const manner = mannerOf(source, options);
    this.registry.register(handlerEntry({ definition, handler, ...manner, source } as GivenHandler));
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

  /** start prepares the tables, runs jobs, and stands for the leader's duties, until `close`; with duties and no handler it runs no jobs. Throws QueueClosedError after a `close`; one that comes meanwhile lets nothing begin. */
  async start(): Promise<void> {
    this.registry.seal();
    this.interceptors.seal();
    await this.prepare();
    // A close may have come meanwhile: nothing begins after it (K118).
    if (this.closing) return this.closing;
    if (this.registry.kinds.length > 0 || !this.hasDuties) await this.runner.start();
    await this.scheduler.start();
  }

  /** Whatever fails, nothing after it stays open. */
  private async end(): Promise<void> {
    try {
      await Promise.all([this.scheduler.close(), this.runner.close()]);
    } finally {
      await Promise.all([this.store.close(), this.leadership.close()]).finally(() => this.connections.close());
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
