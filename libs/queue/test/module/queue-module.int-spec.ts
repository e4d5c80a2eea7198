import 'reflect-metadata';
import { type Database, MigrationsPendingError, pgPool, UnitOfWork } from '@holdfast/kernel';
import { createEmptyDatabase, createTestDatabase, type TestDatabase, waitFor } from '@holdfast/testing';
import { Global, Injectable, Module, type ModuleMetadata, type Provider } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import {
  defineJob,
  DuplicateHandlerError,
  InvalidQueueOptionsError,
  JobHandler,
  JobQueue,
  Jobs,
  NoHandlersError,
  QueueModule,
  type QueueModuleAsyncOptions,
  type QueueOptions,
  type QueueOptionsFactory,
  Runner,
  SecondQueueError,
  SilentReporter,
  type,
} from '../../src/index.js';
import { untilState } from './probe.js';

const Send = defineJob('mail.send', { payload: type<{ to: string }>() });
const Sort = defineJob('mail.sort', { payload: type<{ box: string }>() });

@JobHandler(Send)
class SendHandler {
  static readonly sent: string[] = [];
  async run(job: { payload: { to: string } }): Promise<void> {
    SendHandler.sent.push(job.payload.to);
    return Promise.resolve();
  }
}

@Injectable()
class Producer {
  constructor(
    readonly jobs: JobQueue,
    readonly lookup: Jobs,
    readonly unitOfWork: UnitOfWork,
  ) {}
}

@Module({ providers: [Producer], exports: [Producer] })
class FeatureModule {}

describe('QueueModule', () => {
  let database: Database;
  let db: TestDatabase;
  const opened: TestingModule[] = [];

  const compile = async (metadata: ModuleMetadata): Promise<TestingModule> => {
    const app = await Test.createTestingModule(metadata).compile();
    app.useLogger(false);
    opened.push(app);
    return app;
  };
  const start = async (metadata: ModuleMetadata) => (await compile(metadata)).init();
  const enqueuing = (options: Partial<QueueOptions> = {}) =>
    QueueModule.forRoot({ database, roles: ['enqueue'], ...options });
  const running = (options: Partial<QueueOptions> = {}) =>
    QueueModule.forRoot({ database, reporter: new SilentReporter(), roles: ['run'], run: { slots: 2 }, ...options });
  const connections = async () =>
    (await db.backends()).filter(({ application_name }) => application_name.startsWith('holdfast'));

  beforeAll(async () => {
    db = await createTestDatabase();
    database = pgPool(db.pool());
  });
  afterEach(async () => {
    // NestJS 11 rejects a close with the error of a start that failed.
    for (const app of opened.splice(0)) await app.close().catch(() => undefined);
    await waitFor(async () => (await connections()).length === 0, { what: "the queue's own connections to close" });
  });
  afterAll(() => db.drop());

  it('gives every module JobQueue, Jobs and UnitOfWork, which share one database', async () => {
    const app = await start({ imports: [FeatureModule, enqueuing()] });
    const { jobs, lookup, unitOfWork } = app.get(Producer);
    const { id } = await unitOfWork.run(() => jobs.enqueue(Send, { to: 'a' }));
    expect(await lookup.find(id)).toMatchObject({ id, kind: 'mail.send', state: 'PENDING' });
  });

  it('with the role enqueue it has no runner and needs no handler', async () => {
    const app = await start({ imports: [enqueuing()] });
    expect(() => app.get(Runner)).toThrow();
  });

  it('with the role run it runs the handlers of any module', async () => {
    @Module({ providers: [SendHandler] })
    class MailModule {}
    const app = await start({ imports: [FeatureModule, running(), MailModule] });
    const { id } = await app.get(JobQueue).enqueue(Send, { to: 'through' }, { in: 'own' });
    await untilState(db, id, 'SUCCEEDED');
    expect(SendHandler.sent).toContain('through');
  });

  it.each<[string, Provider]>([
    ['useFactory', { provide: 'made', useFactory: () => new SendHandler() }],
    ['useValue', { provide: 'given', useValue: new SendHandler() }],
  ])('K138: runs a handler registered by %s', async (how, provider) => {
    const app = await start({ imports: [running()], providers: [provider] });
    const { id } = await app.get(JobQueue).enqueue(Send, { to: how }, { in: 'own' });
    await untilState(db, id, 'SUCCEEDED');
    expect(SendHandler.sent).toContain(how);
  });

  it('K35: an alias of a handler and a module imported twice start as one handler', async () => {
    @Module({ providers: [SendHandler, { provide: 'alias', useExisting: SendHandler }], exports: [SendHandler] })
    class MailModule {}
    @Global()
    @Module({ imports: [MailModule] })
    class OtherModule {}
    await expect(start({ imports: [running(), MailModule, OtherModule] })).resolves.toBeDefined();
  });

  it('K35: two handlers of one kind refuse the start and name both places', async () => {
    @Module({ providers: [SendHandler] })
    class OneModule {}
    @Module({ providers: [SendHandler] })
    class TwoModule {}
    const failed = start({ imports: [running(), OneModule, TwoModule] });
    await expect(failed).rejects.toBeInstanceOf(DuplicateHandlerError);
    await expect(failed).rejects.toThrow(/OneModule.*TwoModule/);
  });

  it('K136: two handlers whose classes have one name run each its own kind', async () => {
    const ran: string[] = [];
    const [one, two] = [Send, Sort].map((definition) => {
      class Handler {
        async run(): Promise<void> {
          ran.push(definition.kind);
          return Promise.resolve();
        }
      }
      JobHandler(definition)(Handler);
      return Handler;
    });
    const app = await start({ imports: [running()], providers: [one!, two!] });
    const ids = [
      await app.get(JobQueue).enqueue(Send, { to: 'x' }, { in: 'own' }),
      await app.get(JobQueue).enqueue(Sort, { box: 'x' }, { in: 'own' }),
    ];
    for (const { id } of ids) await untilState(db, id, 'SUCCEEDED');
    expect(ran.sort()).toEqual(['mail.send', 'mail.sort']);
  });

  it('a process that runs jobs without any handler refuses to start, and says what to do', async () => {
    await expect(start({ imports: [running()] })).rejects.toThrow(NoHandlersError);
    const leftOut = start({ imports: [running({ run: { only: ['mail.sort'] } })], providers: [SendHandler] });
    await expect(leftOut).rejects.toThrow(/leave out every kind that has a handler here: mail.send/);
  });

  it('autoStart: false leaves the start to the application', async () => {
    const app = await start({ imports: [running({ autoStart: false })], providers: [SendHandler] });
    const { id } = await app.get(JobQueue).enqueue(Send, { to: 'later' }, { in: 'own' });
    expect(await app.get(Jobs).find(id)).toMatchObject({ state: 'PENDING' });
    await app.get(Runner).start();
    await untilState(db, id, 'SUCCEEDED');
  });

  describe('options', () => {
    afterEach(() => delete process.env['HOLDFAST_ROLES']);

    it('reports every mistake together, those of the roles too', async () => {
      const options = {
        database: undefined,
        payloadLimitBytes: 0,
        roles: ['work'],
        run: { slots: 0 },
      } as unknown as Parameters<typeof QueueModule.forRoot>[0];
      const failed: unknown = await compile({ imports: [QueueModule.forRoot(options)] }).catch(
        (error: unknown) => error,
      );
      expect(failed).toBeInstanceOf(InvalidQueueOptionsError);
      const { message } = failed as Error;
      for (const part of ['roles names work', 'database is missing', 'payloadLimitBytes', 'slots'])
        expect(message).toContain(part);
    });

    it('takes the roles from HOLDFAST_ROLES where the code names none', async () => {
      process.env['HOLDFAST_ROLES'] = 'enqueue';
      const app = await start({ imports: [QueueModule.forRoot({ database })] });
      expect(() => app.get(Runner)).toThrow();
      process.env['HOLDFAST_ROLES'] = ' run , enqueue ';
      await expect(start({ imports: [QueueModule.forRoot({ database })] })).rejects.toThrow(NoHandlersError);
      process.env['HOLDFAST_ROLES'] = 'worker';
      await expect(compile({ imports: [QueueModule.forRoot({ database })] })).rejects.toThrow(
        /HOLDFAST_ROLES names worker/,
      );
    });

    it('enqueues what the options allow and no more', async () => {
      const app = await start({
        imports: [enqueuing({ payloadLimitBytes: 20, kinds: { 'mail.send': { maxAttempts: 2 } } })],
      });
      const jobs = app.get(JobQueue);
      await expect(jobs.enqueue(Send, { to: 'x'.repeat(20) }, { in: 'own' })).rejects.toMatchObject({ limitBytes: 20 });
      const { id } = await jobs.enqueue(Send, { to: 'x' }, { in: 'own' });
      expect(await app.get(Jobs).find(id)).toMatchObject({ maxAttempts: 2 });
    });
  });

  describe('forRootAsync (K140)', () => {
    const CONFIG = 'config';
    const migrations = 'check' as const;

    @Module({ providers: [{ provide: CONFIG, useFactory: () => ({ database, migrations }) }], exports: [CONFIG] })
    class ConfigModule {}

    @Injectable()
    class Factory implements QueueOptionsFactory {
      createQueueOptions(): Promise<QueueOptions> {
        return Promise.resolve({ database, migrations });
      }
    }

    @Module({ providers: [Factory], exports: [Factory] })
    class FactoryModule {}

    const works = async (options: Omit<QueueModuleAsyncOptions, 'roles'>) => {
      const app = await start({
        imports: [FeatureModule, QueueModule.forRootAsync({ roles: ['enqueue'], ...options })],
      });
      const { jobs, lookup } = app.get(Producer);
      const { id } = await jobs.enqueue(Send, { to: 'a' }, { in: 'own' });
      expect(await lookup.find(id)).toBeDefined();
    };
    const refused = (options: Omit<QueueModuleAsyncOptions, 'roles'>) =>
      compile({ imports: [QueueModule.forRootAsync({ roles: ['enqueue'], ...options })] });

    it('useFactory with imports and inject', () =>
      works({ imports: [ConfigModule], inject: [CONFIG], useFactory: (config: QueueOptions) => config }));
    it('an asynchronous useFactory with an optional dependency', () =>
      works({
        inject: [{ token: 'nothing', optional: true }],
        useFactory: async (nothing?: unknown) => Promise.resolve({ database, ...(nothing ? { schema: 'other' } : {}) }),
      }));
    it('useClass', () => works({ useClass: Factory }));
    it('useExisting', () => works({ imports: [FactoryModule], useExisting: Factory }));

    it('a factory that throws fails the start with its error', async () => {
      await expect(
        refused({
          useFactory: () => {
            throw new Error('no configuration');
          },
        }),
      ).rejects.toThrow('no configuration');
    });

    it('a factory that answers nothing fails the start, and no default is used', async () => {
      await expect(refused({ useFactory: () => undefined as unknown as QueueOptions })).rejects.toThrow(
        /there are none: the factory answered undefined/,
      );
      await expect(refused({ useFactory: () => ({}) as QueueOptions })).rejects.toThrow(/database is missing/);
    });

    it('takes exactly one source, and the roles beside it', async () => {
      expect(() => QueueModule.forRootAsync({})).toThrow(InvalidQueueOptionsError);
      expect(() => QueueModule.forRootAsync({ useClass: Factory, useFactory: () => ({ database }) })).toThrow(
        InvalidQueueOptionsError,
      );
      await expect(refused({ useFactory: () => ({ database, roles: ['run'] }) as QueueOptions })).rejects.toThrow(
        /roles are said beside useFactory/,
      );
    });
  });

  describe('one queue for an application', () => {
    it('K134: the same forRoot imported in several modules is one queue', async () => {
      const queue = enqueuing();
      @Module({ imports: [queue] })
      class OneModule {}
      @Module({ imports: [queue] })
      class TwoModule {}
      await expect(start({ imports: [queue, OneModule, TwoModule] })).resolves.toBeDefined();
    });

    it('K140: a second forRoot refuses the start', async () => {
      const metadata = { imports: [enqueuing(), enqueuing({ payloadLimitBytes: 5 })] };
      await expect(start(metadata)).rejects.toThrow(SecondQueueError);
    });
  });

  describe('tables', () => {
    it("'check' refuses to start on a database without them, 'up' makes them, 'off' does not look", async () => {
      const empty = await createEmptyDatabase();
      try {
        const on = (migrations: QueueOptions['migrations']) =>
          QueueModule.forRoot({ database: pgPool(empty.pool()), migrations, roles: ['enqueue'], schema: 'Jobs "1"' });
        await expect(start({ imports: [on('check')] })).rejects.toThrow(MigrationsPendingError);
        await expect(start({ imports: [on('off')] })).resolves.toBeDefined();
        const app = await start({ imports: [on('up')] });
        const { id } = await app.get(JobQueue).enqueue(Send, { to: 'a' }, { in: 'own' });
        expect(await app.get(Jobs).find(id)).toMatchObject({ state: 'PENDING' });
        await expect(start({ imports: [on('check')] })).resolves.toBeDefined();
        for (const opening of opened.splice(0)) await opening.close().catch(() => undefined);
      } finally {
        await empty.drop();
      }
    });
  });

  it('two applications in one process share nothing', async () => {
    const other = await createTestDatabase();
    try {
      const apps = [];
      for (const pool of [db.pool(), other.pool()]) {
        const queue = QueueModule.forRoot({
          database: pgPool(pool),
          reporter: new SilentReporter(),
          roles: ['run'],
          run: { slots: 2 },
        });
        apps.push(await start({ imports: [FeatureModule, queue], providers: [SendHandler] }));
      }
      const [first, second] = apps as [TestingModule, TestingModule];
      const ids = [];
      for (const app of apps) ids.push((await app.get(JobQueue).enqueue(Send, { to: 'two' }, { in: 'own' })).id);
      await untilState(db, ids[0]!, 'SUCCEEDED');
      await untilState(other, ids[1]!, 'SUCCEEDED');
      await first.close();
      const { id } = await second.get(JobQueue).enqueue(Send, { to: 'still' }, { in: 'own' });
      await untilState(other, id, 'SUCCEEDED');
      await second.close();
    } finally {
      await other.drop();
    }
  });
});
