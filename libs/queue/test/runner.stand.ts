import { ControlConnections, pgPool, UnitOfWork, type Database } from '@holdfast/kernel';
import { typeOrm } from '@holdfast/kernel/typeorm';
import { createTestDatabase, waitFor, within, type TestDatabase } from '@holdfast/testing';
import type { Pool } from 'pg';
import type { EntitySchema } from 'typeorm';
import { JobQueue } from '../src/client/job-queue.js';
import type { EnqueueOptions } from '../src/client/enqueue.options.js';
import type { AnyJobDefinition, PayloadInputOf } from '../src/domain/definition.js';
import { jobStateName, type JobStateName } from '../src/domain/job-state.js';
import type { AttachedHandler, DetachedHandler } from '../src/handlers/handler.interface.js';
import { type GivenHandler, handlerEntry } from '../src/handlers/handler.entry.js';
import { JobHandlerRegistry } from '../src/handlers/job-handler.registry.js';
import { JobInterceptorRegistry } from '../src/handlers/job-interceptor.registry.js';
import type { EventOf, QueueEvent } from '../src/ports/queue.events.js';
import type { JobStore } from '../src/ports/job-store.js';
import { PostgresJobStore } from '../src/postgres/postgres.job-store.js';
import { Runner } from '../src/runner/runner.js';
import type { RunnerOptions } from '../src/runner/runner.options.js';
import { SCHEMA } from './store.harness.js';

const TABLES = ['job', 'job_request', 'job_alias', 'job_renewal', 'job_hold', 'job_cancel', 'job_progress'];

/** StoredJob is a job's row, as the tests look at it. */
export interface StoredJob {
  readonly attempt: number;
  readonly due_in_ms: number;
  readonly error_code: string | null;
  readonly failures: readonly { attempt: number; class?: string; code: string; message?: string }[] | null;
  readonly lease_token: string | null;
  readonly losses: number;
  readonly outcome: string | null;
  readonly refusal: { code: string; params: unknown } | null;
  readonly state: JobStateName;
}

/** StandOptions say what a runner under test works with. */
export interface StandOptions {
  readonly controlDeadlineMs?: number;
  readonly entities?: EntitySchema[];
  readonly poolSize?: number;
  /** url of the control connections, such as a proxy's. Default the database's. */
  readonly controlUrl?: string;
  /** url of the application's pool. Default the database's. */
  readonly poolUrl?: string;
  /** prepareStore may wrap the store. */
  readonly store?: (store: PostgresJobStore) => JobStore;
  readonly using?: 'pg' | 'typeorm';
}

/** RunnerStand is a runner with its parts on a test database, and everything it reported, so that a test awaits events and need not sleep. */
export class RunnerStand {
  readonly events: QueueEvent[] = [];
  readonly interceptors = new JobInterceptorRegistry();
  readonly registry = new JobHandlerRegistry();
  private readonly listeners = new Set<() => void>();
  private readonly runners: Runner[] = [];

  private constructor(
    readonly db: TestDatabase,
    readonly database: Database,
    readonly pool: Pool,
    readonly store: JobStore,
    private readonly postgres: PostgresJobStore,
  ) {}

  static async open(db: TestDatabase, options: StandOptions = {}): Promise<RunnerStand> {
    const { controlDeadlineMs: deadlineMs = 5_000, poolSize: max = 10, using = 'pg' } = options;
    const config = { connectionString: options.controlUrl ?? db.url };
    const postgres = new PostgresJobStore({
      connections: new ControlConnections(config, { applicationName: 'holdfast', deadlineMs, max: 3 }),
      keeper: new ControlConnections(config, { applicationName: 'holdfast-keeper', deadlineMs, max: 1 }),
      schema: SCHEMA,
    });
    const store = options.store?.(postgres) ?? postgres;
    const url = options.poolUrl ?? db.url;
    if (using === 'pg') {
      const pool = db.pool({ application_name: 'app', connectionString: url, connectionTimeoutMillis: 5_000, max });
      return new RunnerStand(db, pgPool(pool), pool, store, postgres);
    }
    const source = await db.dataSource({
      entities: options.entities ?? [],
      extra: { application_name: 'app', max },
      url,
    });
    const { master: pool } = source.driver as unknown as { master: Pool };
    return new RunnerStand(db, typeOrm(source), pool, store, postgres);
  }

  get jobs(): JobQueue {
    const { database, store } = this;
    return new JobQueue({ database, maxAttemptsOf: () => undefined, payloadLimitBytes: 262_144, store, tenancy: true });
  }

  get unitOfWork(): UnitOfWork {
    return new UnitOfWork(this.database);
  }

  attached<D extends AnyJobDefinition>(definition: D, run: AttachedHandler<D>['run']): this {
    const given = { definition, handler: { run }, mode: 'attached', source: 'the test' };
    this.registry.register(handlerEntry(given as unknown as GivenHandler));
    return this;
  }

  async close(): Promise<void> {
    for (const runner of this.runners) await runner.stop();
    await this.postgres.close();
  }

  detached<D extends AnyJobDefinition>(definition: D, run: DetachedHandler<D>['run']): this {
    const given = { definition, handler: { run }, mode: 'detached', source: 'the test' };
    this.registry.register(handlerEntry(given as unknown as GivenHandler));
    return this;
  }

  async effects(): Promise<string[]> {
    const rows = await this.db.adminQuery<{ text: string }>('SELECT text FROM effect ORDER BY text');
    return rows.map(({ text }) => text);
  }

  /** enqueue commits one job of its own and answers its id. */
  async enqueue<D extends AnyJobDefinition>(
    definition: D,
    payload: PayloadInputOf<D>,
    options: EnqueueOptions = {},
  ): Promise<string> {
    const { id } = await this.jobs.enqueue(definition, payload, { in: 'own', ...options });
    return id;
  }

  async job(id: string): Promise<StoredJob> {
    const [row] = await this.db.adminQuery<Omit<StoredJob, 'state'> & { state: number }>(
      `SELECT *, (extract(epoch FROM due_at - clock_timestamp()) * 1000)::float8 AS due_in_ms FROM ${SCHEMA.of('job')} WHERE id = $1`,
      [id],
    );
    if (!row) throw new Error(`There is no job ${id}.`);
    return { ...row, state: jobStateName(row.state) };
  }

  /** runner makes a runner of these handlers; it is stopped with the stand. */
  runner(options: RunnerOptions = {}): Runner {
    const runner = new Runner({
      database: this.database,
      interceptors: this.interceptors,
      options: { abortWaitMs: 500, graceMs: 5_000, pollMs: 60_000, ...options },
      registry: this.registry,
      reporter: { report: (event) => this.take(event) },
      store: this.store,
    });
    this.runners.push(runner);
    return runner;
  }

  /** seen answers the first event of a type that has come or comes; each is answered once. */
  async seen<T extends QueueEvent['type']>(
    type: T,
    where: (event: EventOf<T>) => boolean = () => true,
    deadlineMs = 10_000,
  ): Promise<EventOf<T>> {
    let listener = () => undefined as void;
    const found = new Promise<EventOf<T>>((resolve) => {
      listener = () => {
        const at = this.events.findIndex((event) => event.type === type && where(event as EventOf<T>));
        if (at >= 0) resolve(this.events.splice(at, 1)[0] as EventOf<T>);
      };
      this.listeners.add(listener);
      listener();
    });
    try {
      return await within(found, deadlineMs, type);
    } catch (error) {
      const others = this.events.map((event) => event.type).join(', ');
      throw new Error(`${(error as Error).message} There were ${others}.`, { cause: error });
    } finally {
      this.listeners.delete(listener);
    }
  }

  /** seenOf answers the first event of a type about a job. */
  seenOf<T extends Extract<QueueEvent, { run: unknown }>['type']>(
    type: T,
    id: string,
    deadlineMs?: number,
  ): Promise<EventOf<T>> {
    return this.seen(type, (event) => (event as Extract<QueueEvent, { run: unknown }>).run.id === id, deadlineMs);
  }

  /** start makes a runner and starts it. */
  async start(options: RunnerOptions = {}): Promise<Runner> {
    const runner = this.runner(options);
    await runner.start();
    return runner;
  }

  /** untilIdle waits until every client of the application's pool has come back to it. */
  async untilIdle(): Promise<void> {
    await waitFor(() => this.pool.idleCount === this.pool.totalCount, { what: 'the pool to be idle' });
  }

  /** wake lets every runner look now. */
  wake(): void {
    for (const runner of this.runners) runner.wake();
  }

  private take(event: QueueEvent): void {
    this.events.push(event);
    for (const listener of this.listeners) listener();
  }
}

/** standDatabase answers a database with the tables that the handlers under test write. */
export async function standDatabase(): Promise<TestDatabase> {
  const db = await createTestDatabase();
  await db.adminQuery('CREATE TABLE effect (text text, n int UNIQUE DEFERRABLE INITIALLY DEFERRED)');
  return db;
}

/** emptied removes every job and effect, so that tests of one file do not meet. */
export async function emptied(db: TestDatabase): Promise<void> {
  await db.adminQuery(`TRUNCATE ${TABLES.map((table) => SCHEMA.of(table)).join(', ')}, effect`);
}

/** Gate lets a test hold a handler, and learn that it has come. */
export class Gate<T = void> {
  readonly reached: Promise<T>;
  readonly opened: Promise<void>;
  open!: () => void;
  private arrive!: (value: T) => void;

  constructor() {
    this.reached = new Promise((resolve) => (this.arrive = resolve));
    this.opened = new Promise((resolve) => (this.open = resolve));
  }

  /** pass says that it has come and waits for the gate to open. */
  async pass(value: T): Promise<void> {
    this.arrive(value);
    await this.opened;
  }
}

/** unhandledRejections counts what nobody caught while a test file ran. */
export function unhandledRejections(): unknown[] {
  const seen: unknown[] = [];
  const listener = (reason: unknown) => void seen.push(reason);
  beforeAll(() => void process.on('unhandledRejection', listener));
  afterAll(() => void process.off('unhandledRejection', listener));
  return seen;
}
