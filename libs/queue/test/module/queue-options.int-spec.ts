/* eslint-disable no-restricted-syntax -- an application may have cycles of its own */
import 'reflect-metadata';
import { type Database, pgPool } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase, within } from '@holdfast/testing';
import { forwardRef, Injectable, Module, type ModuleMetadata, type Type } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { Test, type TestingModule } from '@nestjs/testing';
import {
  defineJob,
  InvalidQueueOptionsError,
  JobHandler,
  JobQueue,
  Jobs,
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

const Send = defineJob('config.send', { payload: type<{ to: string }>() });
const Sort = defineJob('config.sort', { payload: type<object>() });

@JobHandler(Send)
class SendHandler {
  run(): Promise<void> {
    return Promise.resolve();
  }
}

@JobHandler(Sort)
class SortHandler extends SendHandler {}

describe('The options of QueueModule', () => {
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
  const enqueuing = (options: Omit<QueueModuleAsyncOptions, 'roles'>) =>
    QueueModule.forRootAsync({ roles: ['enqueue'], ...options });
  const failure = async (metadata: ModuleMetadata): Promise<Error> => {
    const failed = start(metadata).then(
      () => new Error('It has started.'),
      (error: Error) => error,
    );
    return within(failed, 20_000, 'the start to fail');
  };

  beforeAll(async () => {
    db = await createTestDatabase();
    database = pgPool(db.pool({ max: 30 }));
  });
  // NestJS 11 rejects a close with the error of the start.
  afterEach(async () => {
    for (const app of opened.splice(0)) await app.close().catch(() => undefined);
  });
  afterAll(() => db.drop());

  describe('a source that cannot be (K140)', () => {
    const refused = (options: unknown) => {
      try {
        QueueModule.forRootAsync(options as QueueModuleAsyncOptions);
      } catch (error) {
        return (error as InvalidQueueOptionsError).problems;
      }
      throw new Error('It was taken.');
    };

    it.each<[string, unknown, string]>([
      ['nothing', undefined, 'exactly one of useFactory, useClass and useExisting'],
      ['no source', { roles: ['run'] }, 'exactly one of useFactory, useClass and useExisting'],
      ['two sources', { useClass: SendHandler, useFactory: () => ({}) }, 'exactly one of'],
      ['a misspelt name', { useFactroy: () => ({}) }, 'useFactroy is no option of forRootAsync'],
      ['options beside the factory', { schema: 'jobs', useFactory: () => ({}) }, 'schema is no option of forRootAsync'],
      ['a factory that is none', { useFactory: {} }, 'useFactory must be a function'],
      ['a class that is none', { useClass: 'Factory' }, 'useClass must be a class'],
      ['inject for a class', { inject: ['x'], useClass: SendHandler }, 'inject goes with useFactory'],
    ])('%s', (_, options, problem) => {
      expect(refused(options).join('\n')).toContain(problem);
    });

    it('forRoot without options says what is missing', async () => {
      const queue = QueueModule.forRoot(undefined as never);
      expect((await failure({ imports: [queue], providers: [SendHandler] })).message).toContain('database is missing');
    });

    it.each<[string, () => unknown, RegExp]>([
      [
        'throws',
        () => {
          throw new Error('no configuration');
        },
        /^no configuration$/,
      ],
      ['rejects', () => Promise.reject(new Error('no vault')), /^no vault$/],
      ['answers nothing', () => undefined, /there are none: the factory answered undefined/],
      ['answers null in a promise', () => Promise.resolve(null), /there are none: the factory answered null/],
      ['answers a text', () => 'postgres://here', /there are none: the factory answered postgres/],
      ['answers a bare pool', () => ({ database: db.pool() }), /wrap the pool, pgPool\(pool\)/],
    ])('a factory that %s fails the start', async (_, useFactory, message) => {
      const queue = enqueuing({ useFactory: useFactory as () => QueueOptions });
      expect((await failure({ imports: [queue] })).message).toMatch(message);
    });

    it.each(['useClass', 'useExisting'] as const)('%s without createQueueOptions is named', async (source) => {
      @Injectable()
      class Settings {}
      @Module({ exports: [Settings], providers: [Settings] })
      class SettingsModule {}
      const queue = enqueuing({ imports: [SettingsModule], [source]: Settings as Type<QueueOptionsFactory> });
      expect((await failure({ imports: [queue] })).message).toContain('Settings, which is to make them, has no method');
    });

    it('useExisting and inject of what is nowhere name the queue and the token', async () => {
      const queues = [
        enqueuing({ useExisting: 'Settings' }),
        enqueuing({ inject: ['Settings'], useFactory: () => ({ database }) }),
      ];
      for (const queue of queues) {
        const { message } = await failure({ imports: [queue] });
        expect(message).toMatch(/QueueModule options/);
        expect(message).toMatch(/"?Settings"? at index \[0\]/);
      }
    });
  });

  describe('imports in a cycle (K140)', () => {
    it('modules that import each other start, with forwardRef on both sides', async () => {
      const source: QueueOptions = { database: pgPool(db.pool()) };
      @Module({
        imports: [
          enqueuing({
            imports: [forwardRef(() => SettingsModule)],
            inject: ['settings'],
            useFactory: (settings: QueueOptions) => settings,
          }),
        ],
      })
      class CoreModule {}
      @Module({
        exports: ['settings'],
        imports: [forwardRef(() => CoreModule)],
        providers: [{ provide: 'settings', useValue: source }],
      })
      class SettingsModule {}
      await expect(start({ imports: [CoreModule, SettingsModule] })).resolves.toBeDefined();
    });

    it('a module that is still undefined because two files import each other is refused, and the place is named', async () => {
      const queue = enqueuing({ imports: [undefined as never], useFactory: () => ({ database }) });
      expect((await failure({ imports: [queue] })).message).toMatch(/circular dependency[^]*QueueModule/);
    });

    it('a factory whose dependency needs the queue is refused, and the way round is named', async () => {
      @Injectable()
      class Store {
        constructor(readonly jobs: JobQueue) {}
      }
      @Injectable()
      class Settings {
        constructor(readonly store: Store) {}
      }
      @Module({ exports: [Settings], providers: [Settings, Store] })
      class SettingsModule {}
      const queue = enqueuing({ imports: [SettingsModule], inject: [Settings], useFactory: () => ({ database }) });
      expect((await failure({ imports: [queue] })).message).toContain('Settings → Store → JobQueue');
    });
  });

  it('K140: a second forRoot refuses the start, whatever it was made by and wherever it is imported', async () => {
    @Module({ imports: [QueueModule.forRoot({ database, roles: ['enqueue'] })] })
    class FeatureModule {}
    const first = enqueuing({ useFactory: () => ({ database }) });
    expect(await failure({ imports: [first, FeatureModule] })).toBeInstanceOf(SecondQueueError);
  });

  describe('the bare class in imports (K140)', () => {
    @Module({ imports: [QueueModule] })
    class FeatureModule {}

    it('refuses the start where nothing sets the queue up, and says forRoot', async () => {
      for (const imports of [[QueueModule], [FeatureModule]]) {
        const failed = await failure({ imports });
        expect(failed).toBeInstanceOf(InvalidQueueOptionsError);
        expect(failed.message).toContain('QueueModule.forRoot({ database: … })');
      }
    });

    it.each([
      ['forRoot', () => QueueModule.forRoot({ database, roles: ['enqueue'] })],
      ['forRootAsync', () => enqueuing({ useFactory: () => ({ database }) })],
    ])('beside %s it is the queue that was set up, in either order', async (_, queue) => {
      for (const imports of [
        [queue(), FeatureModule],
        [FeatureModule, queue()],
      ]) {
        const app = await start({ imports });
        await expect(app.get(JobQueue).enqueue(Send, { to: 'a' }, { in: 'own' })).resolves.toBeDefined();
      }
    });
  });

  describe('forRoot (K140)', () => {
    it('reads options that a class answers by getters, once each', async () => {
      const reads: string[] = [];
      class Settings {
        get database() {
          reads.push('database');
          return database;
        }
        get payloadLimitBytes() {
          reads.push('payloadLimitBytes');
          return 40;
        }
        get roles() {
          reads.push('roles');
          return ['enqueue'] as const;
        }
      }
      const app = await start({ imports: [QueueModule.forRoot(new Settings())] });
      await expect(app.get(JobQueue).enqueue(Send, { to: 'x'.repeat(50) }, { in: 'own' })).rejects.toMatchObject({
        code: 'queue.payload_too_large',
      });
      expect(reads.sort()).toEqual(['database', 'payloadLimitBytes', 'roles']);
    });
  });

  describe('after a start that failed', () => {
    it('the same modules start in a new application, which runs jobs', async () => {
      let broken = true;
      const queue = QueueModule.forRootAsync({
        roles: ['run'],
        useFactory: () => {
          if (broken) throw new Error('not yet');
          return { database, reporter: new SilentReporter(), run: { slots: 2 } };
        },
      });
      const metadata = { imports: [queue], providers: [SendHandler] };
      expect((await failure(metadata)).message).toBe('not yet');
      broken = false;
      const app = await start(metadata);
      const { id } = await app.get(JobQueue).enqueue(Send, { to: 'again' }, { in: 'own' });
      await untilState(db, id, 'SUCCEEDED');
    });

    it.each(['onModuleInit', 'onApplicationBootstrap'] as const)(
      'in %s of another provider, no connection of the queue is left, whether or not Nest closes it',
      async (hook) => {
        let broken = true;
        @Injectable()
        class Fragile {
          [hook](): void {
            if (broken) throw new Error('fragile');
          }
        }
        const queue = QueueModule.forRoot({ database, reporter: new SilentReporter(), run: { slots: 2 } });
        const metadata = { imports: [queue], providers: [Fragile, SendHandler] };
        expect((await failure(metadata)).message).toBe('fragile');
        const left = (await db.backends()).filter(({ application_name: name }) => name.startsWith('holdfast'));
        expect(left).toEqual([]);
        broken = false;
        const app = await start(metadata);
        const { id } = await app.get(JobQueue).enqueue(Send, { to: 'after' }, { in: 'own' });
        await untilState(db, id, 'SUCCEEDED');
      },
    );
  });

  describe('from a configuration module', () => {
    const configured = (env: Record<string, unknown>) => {
      const loaded = ConfigModule.forRoot({ ignoreEnvFile: true, ignoreEnvVars: true, load: [() => env] });
      return QueueModule.forRootAsync({
        roles: ['run'],
        imports: [loaded],
        inject: [ConfigService],
        useFactory: (config: ConfigService): QueueOptions => ({
          autoStart: config.get('AUTO_START'),
          database,
          kinds: { 'config.send': { concurrency: config.get('SENDS'), maxAttempts: config.get('ATTEMPTS') } },
          reporter: new SilentReporter(),
          run: { except: config.get('EXCEPT'), only: config.get('ONLY'), slots: config.get('SLOTS') },
        }),
      });
    };
    const app = (env: Record<string, unknown>) =>
      start({ imports: [configured(env)], providers: [SendHandler, SortHandler] });
    const kindsOf = (started: TestingModule) => started.get(Runner).vitals.kinds;

    it('Q15: kinds, run.only and run.except come from it; what it does not set has its default', async () => {
      expect(kindsOf(await app({ SLOTS: 2 }))).toEqual(['config.send', 'config.sort']);
      expect(kindsOf(await app({ ONLY: ['config.sort'], SLOTS: 2 }))).toEqual(['config.sort']);
      const started = await app({ ATTEMPTS: 3, EXCEPT: ['config.sort'], SENDS: 1, SLOTS: 2 });
      expect(kindsOf(started)).toEqual(['config.send']);
      const { id } = await started.get(JobQueue).enqueue(Send, { to: 'a' }, { in: 'own' });
      await untilState(db, id, 'SUCCEEDED');
      expect(await started.get(Jobs).find(id)).toMatchObject({ maxAttempts: 3 });
      expect((await app({})).get(Runner).vitals).toMatchObject({ slots: 10, state: 'running' });
    });

    it('texts from the environment where numbers are due, and lists that are none, are refused all together', async () => {
      const failed = await failure({
        imports: [configured({ AUTO_START: 'true', ONLY: 'config.send', SENDS: '4', SLOTS: '20' })],
        providers: [SendHandler],
      });
      expect((failed as InvalidQueueOptionsError).problems).toEqual([
        'autoStart must be true or false',
        'run: only must be a list of kinds',
        "run: slots must be a whole number from 1 to 10000, not '20'",
        "kinds.config.send.concurrency must be a whole number from 1 to 10000, not '4'",
      ]);
    });
  });
});
