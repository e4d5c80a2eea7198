import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import { pgPool } from '@holdfast/kernel';
import { typeOrm } from '@holdfast/kernel/typeorm';
import { createTestDatabase, type TestDatabase, waitFor } from '@holdfast/testing';
import {
  Controller,
  type DynamicModule,
  Get,
  Global,
  type INestApplication,
  Module,
  type ModuleMetadata,
  type Type,
} from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import {
  defineJob,
  JobHandler,
  JobQueue,
  QueueModule,
  Runner,
  type QueueEvent,
  type RunOptions,
  SilentReporter,
  type,
  UnitOfWork,
} from '../../src/index.js';
import { emptied, type Gate, gate, stateOf } from './probe.js';

const Work = defineJob('order.work', { payload: type<object>() });
const Made = defineJob('order.made', { payload: type<object>() });

/** What happened, in order, and what holds the handler and the request. */
const events: string[] = [];
let atWork: Gate;
let mayEnd: Gate;
let work: () => Promise<void>;

@JobHandler(Work)
class WorkHandler {
  async run(): Promise<void> {
    atWork.open();
    await work();
    events.push('handler ended');
  }
}

/** hooked makes a class that tells each of the hooks at a stop. */
function hooked(name: string): Type<object> {
  class Hooked {
    beforeApplicationShutdown(): void {
      events.push(`${name} before shutdown`);
    }
    onApplicationShutdown(): void {
      events.push(`${name} shutdown`);
    }
    onModuleDestroy(): void {
      events.push(`${name} destroyed`);
    }
  }
  return Hooked;
}

/** moduleOf makes a module with a provider, and itself, hooked. */
function moduleOf(name: string, metadata: ModuleMetadata = {}, global = false): Type<object> {
  class Named extends hooked(`${name} module`) {}
  Module({ ...metadata, providers: [hooked(`${name} provider`)] })(Named);
  if (global) Global()(Named);
  return Named;
}

describe('The order at a stop', () => {
  let db: TestDatabase;
  const apps: INestApplication[] = [];

  const queue = (run: RunOptions = {}): DynamicModule =>
    QueueModule.forRootAsync({
      inject: [DataSource],
      useFactory: (dataSource: DataSource) => ({
        database: typeOrm(dataSource),
        reporter: new SilentReporter(),
        run: { slots: 2, ...run },
      }),
    });
  const typeOrmModule = () => TypeOrmModule.forRoot({ type: 'postgres', url: db.url });
  const start = async (metadata: ModuleMetadata): Promise<INestApplication> => {
    const module = await Test.createTestingModule(metadata).compile();
    const app = module.createNestApplication({ logger: false });
    apps.push(app);
    await app.listen(0, '127.0.0.1');
    app.get(Runner).events.subscribe(({ type: name }) => name === 'runner.drained' && events.push('drained'));
    return app;
  };
  const enqueue = async (app: INestApplication) => {
    const { id } = await app.get(JobQueue).enqueue(Work, {}, { in: 'own' });
    await atWork.opened;
    return id;
  };

  beforeAll(async () => (db = await createTestDatabase()));
  beforeEach(async () => {
    await emptied(db);
    events.splice(0);
    [atWork, mayEnd] = [gate(), gate()];
    work = () => mayEnd.opened;
  });
  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
  });
  afterAll(() => db.drop());

  const deep = () => moduleOf('deep', { imports: [moduleOf('deeper', { imports: [moduleOf('deepest')] })] });
  const dynamic = (): DynamicModule => ({
    global: true,
    module: moduleOf('dynamic'),
    providers: [{ provide: 'made', useFactory: () => new (hooked('factory'))() }],
  });
  const orders: [string, () => NonNullable<ModuleMetadata['imports']>][] = [
    ['first', () => [queue(), typeOrmModule(), moduleOf('global', {}, true), deep(), dynamic()]],
    ['last', () => [dynamic(), deep(), moduleOf('global', {}, true), typeOrmModule(), queue()]],
    ['in the middle', () => [deep(), typeOrmModule(), queue(), dynamic(), moduleOf('global', {}, true)]],
    [
      'deep inside',
      () => [
        moduleOf('outer', { imports: [moduleOf('inner', { imports: [queue()] })] }),
        moduleOf('global', {}, true),
        dynamic(),
        typeOrmModule(),
        deep(),
      ],
    ],
  ];

  it.each(orders)(
    'K27, R17: the queue imported %s: the drain comes before every hook of every module',
    async (_, imports) => {
      @Controller()
      class RootController extends hooked('controller') {}
      const app = await start({
        controllers: [RootController],
        imports: imports(),
        providers: [WorkHandler, hooked('root')],
      });
      const dataSource = app.get(DataSource);
      await enqueue(app);
      const closed = app.close();
      await waitFor(() => app.get(Runner).vitals.state === 'draining', { what: 'the drain' });
      expect(events).toEqual([]);
      expect(dataSource.isInitialized).toBe(true);
      mayEnd.open();
      await closed;
      expect(events.slice(0, 2)).toEqual(['handler ended', 'drained']);
      const places = [
        'root',
        'controller',
        'deepest provider',
        'deepest module',
        'global provider',
        'dynamic module',
        'factory',
      ];
      for (const place of places)
        for (const hook of ['destroyed', 'before shutdown', 'shutdown'])
          expect(events.indexOf(`${place} ${hook}`)).toBeGreaterThan(1);
      expect(dataSource.isInitialized).toBe(false);
    },
  );

  it('K118: a request in flight still enqueues, in its transaction and in its own, after the drain and until its answer', async () => {
    const [arrived, mayGo] = [gate(), gate()];
    @Controller()
    class SlowController {
      constructor(
        private readonly jobs: JobQueue,
        private readonly unitOfWork: UnitOfWork,
      ) {}

      @Get('slow')
      async slow(): Promise<string[]> {
        arrived.open();
        await mayGo.opened;
        const joined = await this.unitOfWork.run(() => this.jobs.enqueue(Made, {}));
        const own = await this.jobs.enqueue(Made, {}, { in: 'own' });
        return [joined.id, own.id];
      }
    }
    const app = await start({
      controllers: [SlowController],
      imports: [queue(), typeOrmModule()],
      providers: [WorkHandler, hooked('root')],
    });
    await enqueue(app);
    const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
    const answer = fetch(`http://127.0.0.1:${port}/slow`, { headers: { connection: 'close' } });
    await arrived.opened;
    const closed = app.close();
    mayEnd.open();
    await waitFor(() => events.includes('root before shutdown'), { what: 'the providers to be destroyed' });
    mayGo.open();
    const ids = (await (await answer).json()) as string[];
    await closed;
    expect(await Promise.all(ids.map((id) => stateOf(db, id)))).toEqual(['PENDING', 'PENDING']);
  });

  it('K118: a handler that closes its application and does not wait for it ends well', async () => {
    let closed: Promise<void> | undefined;
    work = () => {
      closed = app.close();
      return Promise.resolve();
    };
    const app = await start({ imports: [queue(), typeOrmModule()], providers: [WorkHandler] });
    const id = await enqueue(app);
    await closed;
    expect(events).toEqual(['handler ended', 'drained']);
    expect(await stateOf(db, id)).toBe('SUCCEEDED');
  });

  it('K118: one that waits for it waits for itself, for as long as the grace: then it is stopped and its job given back', async () => {
    let told: QueueEvent | undefined;
    work = () => app.close();
    const app = await start({ imports: [queue({ grace: '200ms' }), typeOrmModule()], providers: [WorkHandler] });
    app.get(Runner).events.subscribe((event) => (told = event.type === 'runner.drained' ? event : told));
    const id = await enqueue(app);
    await waitFor(() => events.includes('handler ended'), { what: 'the handler to get past the close' });
    expect(told).toMatchObject({ abandoned: 1, givenBack: 1 });
    expect(await stateOf(db, id)).toBe('PENDING');
  });

  it('R17: runner.drain() can be awaited by the application; its answer is the event, and closing goes on from there', async () => {
    const told: QueueEvent[] = [];
    const app = await start({ imports: [queue(), typeOrmModule()], providers: [WorkHandler] });
    app.get(Runner).events.subscribe((event) => event.type.startsWith('runner.') && told.push(event));
    await enqueue(app);
    const drained = app.get(Runner).drain();
    mayEnd.open();
    expect(await drained).toEqual({ abandoned: 0, givenBack: 0 });
    await Promise.all([app.close(), app.close()]);
    expect(told).toEqual([
      { graceMs: 20_000, running: 1, type: 'runner.draining' },
      { abandoned: 0, givenBack: 0, type: 'runner.drained' },
      { type: 'runner.stopped' },
    ]);
  });

  it('K118: from a close on no runner starts, also not by hand', async () => {
    const app = await start({
      imports: [QueueModule.forRoot({ autoStart: false, database: pgPool(db.pool()), run: { slots: 2 } })],
      providers: [WorkHandler],
    });
    const runner = app.get(Runner);
    await app.close();
    await expect(runner.start()).rejects.toMatchObject({ code: 'queue.closed' });
    expect(runner.vitals.state).toBe('idle');
  });
});
