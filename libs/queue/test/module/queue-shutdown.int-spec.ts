import 'reflect-metadata';
import { pgPool } from '@holdfast/kernel';
import { typeOrm } from '@holdfast/kernel/typeorm';
import { createTestDatabase, type TestDatabase, waitFor } from '@holdfast/testing';
import {
  type DynamicModule,
  Injectable,
  Module,
  type ModuleMetadata,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import {
  type AttachedContext,
  defineJob,
  EventStream,
  type JobOf,
  JobHandler,
  JobQueue,
  QueueModule,
  Runner,
  type RunOptions,
  SilentReporter,
  type,
} from '../../src/index.js';
import { type Gate, gate, stateOf, untilState } from './probe.js';

const Slow = defineJob('shutdown.slow', { payload: type<{ n: number }>() });
const Next = defineJob('shutdown.next', { payload: type<{ n: number }>() });

/** What a test watches: when the handler runs, when it may end, and in which order things happened. */
class Watch {
  readonly events: string[] = [];
  readonly mayEnd: Gate = gate();
  readonly running: Gate = gate();
}

@JobHandler(Slow)
class SlowHandler {
  constructor(
    private readonly jobs: JobQueue,
    private readonly watch: Watch,
  ) {}

  async run({ payload }: JobOf<typeof Slow>, ctx: AttachedContext): Promise<void> {
    this.watch.running.open();
    await Promise.race([this.watch.mayEnd.opened, aborted(ctx.signal)]);
    ctx.signal.throwIfAborted();
    await ctx.tx.sql.query('SELECT 1');
    await this.jobs.enqueue(Next, { n: payload.n });
    await this.jobs.enqueue(Next, { n: payload.n + 1 }, { in: 'own' });
    this.watch.events.push('handler ended');
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** A provider of the application that handlers may use: it must still be there when they end. */
@Injectable()
class Client implements OnModuleDestroy {
  constructor(private readonly watch: Watch) {}

  onModuleDestroy(): void {
    this.watch.events.push('client destroyed');
  }
}

describe('QueueModule at the end', () => {
  let db: TestDatabase;
  const opened: TestingModule[] = [];

  const start = async (metadata: ModuleMetadata): Promise<TestingModule> => {
    const app = await Test.createTestingModule(metadata).compile();
    app.useLogger(false);
    opened.push(app);
    return app.init();
  };
  const nothingHeld = () =>
    waitFor(async () => (await db.backends()).length === 0, { what: 'every connection to close' });
  const typeOrmModule = () => TypeOrmModule.forRoot({ type: 'postgres', url: db.url });
  const queueModule = (run: RunOptions = {}): DynamicModule =>
    QueueModule.forRootAsync({
      inject: [DataSource],
      roles: ['run'],
      useFactory: (dataSource: DataSource) => ({
        database: typeOrm(dataSource),
        reporter: new SilentReporter(),
        run: { slots: 2, ...run },
      }),
    });
  const watchModule = (watch: Watch): DynamicModule => ({
    module: class WatchModule {},
    exports: [Watch],
    global: true,
    providers: [{ provide: Watch, useValue: watch }],
  });

  @Module({ providers: [Client, SlowHandler] })
  class FeatureModule {}

  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterEach(async () => {
    // NestJS 11 rejects a close with the error of a start that failed.
    for (const app of opened.splice(0)) await app.close().catch(() => undefined);
    await nothingHeld();
  });
  afterAll(() => db.drop());

  it.each<[string, (watch: Watch) => ModuleMetadata]>([
    [
      'TypeORM before the queue',
      (watch) => ({ imports: [watchModule(watch), typeOrmModule(), queueModule(), FeatureModule] }),
    ],
    [
      'TypeORM after the queue',
      (watch) => ({ imports: [FeatureModule, queueModule(), typeOrmModule(), watchModule(watch)] }),
    ],
    [
      'everything in the root module',
      (watch) => ({ imports: [queueModule(), typeOrmModule(), watchModule(watch)], providers: [Client, SlowHandler] }),
    ],
  ])('K27, R17: %s: the drain ends before any provider and the DataSource are destroyed', async (_, metadata) => {
    const watch = new Watch();
    const app = await start(metadata(watch));
    const dataSource = app.get(DataSource);
    const { id } = await app.get(JobQueue).enqueue(Slow, { n: 1 }, { in: 'own' });
    await watch.running.opened;
    const closed = app.close();
    expect(dataSource.isInitialized).toBe(true);
    watch.mayEnd.open();
    await closed;
    expect(watch.events).toEqual(['handler ended', 'client destroyed']);
    expect(dataSource.isInitialized).toBe(false);
    expect(await stateOf(db, id)).toBe('SUCCEEDED');
  });

  it('K118: enqueue works until the last handler has ended', async () => {
    await db.adminQuery('TRUNCATE holdfast.job');
    const watch = new Watch();
    const app = await start({ imports: [watchModule(watch), typeOrmModule(), queueModule(), FeatureModule] });
    await app.get(JobQueue).enqueue(Slow, { n: 7 }, { in: 'own' });
    await watch.running.opened;
    const closed = app.close();
    watch.mayEnd.open();
    await closed;
    const [left] = await db.adminQuery('SELECT count(*)::int AS count FROM holdfast.job WHERE kind = $1', [Next.kind]);
    expect(left).toEqual({ count: 2 });
  });

  it('R17: a handler past the grace is stopped, and its job goes back at once with its attempt', async () => {
    const watch = new Watch();
    const app = await start({
      imports: [watchModule(watch), typeOrmModule(), queueModule({ grace: '50ms' }), FeatureModule],
    });
    const { id } = await app.get(JobQueue).enqueue(Slow, { n: 1 }, { in: 'own' });
    await watch.running.opened;
    await app.close();
    expect(watch.events).toEqual(['client destroyed']);
    const rows = await db.adminQuery('SELECT state, attempt FROM holdfast.job WHERE id = $1', [id]);
    expect(rows).toEqual([{ attempt: 0, state: 0 }]);
    await db.adminQuery('DELETE FROM holdfast.job WHERE id = $1', [id]);
  });

  it('K118: closing twice, at once and again, is closing once', async () => {
    const watch = new Watch();
    const app = await start({ imports: [watchModule(watch), typeOrmModule(), queueModule(), FeatureModule] });
    await Promise.all([app.close(), app.close()]);
    await app.close();
    expect(watch.events.filter((event) => event === 'client destroyed')).not.toHaveLength(0);
  });

  it('K118: an application that is closed before it was started, or while it starts, ends and holds nothing', async () => {
    const watch = new Watch();
    const imports = [watchModule(watch), typeOrmModule(), queueModule(), FeatureModule];
    const never = await Test.createTestingModule({ imports }).compile();
    await never.close();
    const app = await Test.createTestingModule({ imports }).compile();
    app.useLogger(false);
    const starting = app.init().catch(() => undefined);
    await app.close();
    await starting;
    await nothingHeld();
  });

  it('the runner starts when every provider of the application is up', async () => {
    const watch = new Watch();
    const reporter = new EventStream();
    reporter.subscribe(({ type: name }) => name === 'runner.started' && watch.events.push(name));
    @Injectable()
    class Late implements OnApplicationBootstrap {
      async onApplicationBootstrap(): Promise<void> {
        await new Promise((resolve) => setImmediate(resolve));
        watch.events.push('late provider up');
      }
    }
    const queue = QueueModule.forRoot({ database: pgPool(db.pool()), reporter, roles: ['run'], run: { slots: 1 } });
    await start({ imports: [queue, watchModule(watch)], providers: [SlowHandler, Late] });
    expect(watch.events).toEqual(['late provider up', 'runner.started']);
  });

  it('a start that fails elsewhere leaves no runner and no connection behind', async () => {
    @Injectable()
    class Broken implements OnApplicationBootstrap {
      onApplicationBootstrap(): void {
        throw new Error('broken');
      }
    }
    const queue = QueueModule.forRoot({
      database: pgPool(db.pool()),
      reporter: new SilentReporter(),
      roles: ['run'],
      run: { slots: 1 },
    });
    const imports = [queue, watchModule(new Watch())];
    await expect(start({ imports, providers: [SlowHandler, Broken] })).rejects.toThrow('broken');
  });

  it('NestFactory: an application context with shutdown hooks drains on close', async () => {
    const watch = new Watch();
    @Module({ imports: [watchModule(watch), typeOrmModule(), queueModule(), FeatureModule] })
    class AppModule {}
    const app = await NestFactory.createApplicationContext(AppModule, { abortOnError: false, logger: false });
    const { id } = await app.get(JobQueue).enqueue(Slow, { n: 1 }, { in: 'own' });
    await watch.running.opened;
    watch.mayEnd.open();
    await untilState(db, id, 'SUCCEEDED');
    expect(app.get(Runner)).toBeInstanceOf(Runner);
    await app.close();
  });
});
