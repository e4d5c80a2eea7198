import { ControlConnections } from '@holdfast/kernel';
import type { DynamicModule } from '@nestjs/common';
import type { QueueOptions, ResolvedQueueOptions } from '../../assembly/queue.options.js';
import { resolveQueueOptions } from '../../assembly/queue.options.check.js';
import { QueueModule } from '../../module/queue.module.js';
import { QUEUE_OPTIONS, RAW_OPTIONS, type RolesOption } from '../../module/queue.module-options.js';
import { type QueueTestingOptions, TestSettings } from './test.settings.js';

/** TestingBuilder is the part of the builder of `@nestjs/testing` that is used: `Test.createTestingModule(…)` answers one. */
export interface TestingBuilder {
  overrideProvider(token: never): { useFactory(options: never): unknown };
}

interface Override {
  useFactory(options: { readonly factory: (injected: never) => unknown; readonly inject: readonly unknown[] }): unknown;
}

/**
 * QueueTestingModule is the queue of an application under test: it starts nothing by itself, brings its tables up and logs nothing, so that a test runs
 * what it wants to see, with `runHandler` and `drain`.
 *
 * `override(builder)` changes the queue of an application's own modules; `forRoot(options)` stands in their place, for a test of a few providers.
 */
export class QueueTestingModule {
  /**
   * forRoot is `QueueModule.forRoot` for tests; `database` must be given, as there. With `schema: 'own'` the tables are made for this one application and
   * dropped when it is closed.
   */
  static forRoot(given: QueueTestingOptions & RolesOption & Pick<QueueOptions, 'database'>): DynamicModule {
    const { roles, ...options } = given;
    const settings = new TestSettings(options);
    const module = QueueModule.forRoot({ ...settings.options({}), ...(roles === undefined ? {} : { roles }) });
    const connections = { provide: ControlConnections, ...connectionsFactory(settings), inject: [QUEUE_OPTIONS] };
    return { ...module, providers: [...(module.providers ?? []), connections] };
  }

  /**
   * override changes the options of the queue that the modules of a test have, and answers the builder:
   *
   * `const app = await QueueTestingModule.override(Test.createTestingModule({ imports: [AppModule] }), { schema: 'own' }).compile();`
   *
   * What is not given stays as the application has it, but for `autoStart` (false), `migrations` (`'up'`) and `reporter` (silent).
   */
  static override<Builder extends TestingBuilder>(builder: Builder, given: QueueTestingOptions = {}): Builder {
    const settings = new TestSettings(given);
    overrideOf(builder, QUEUE_OPTIONS).useFactory({
      factory: (raw: QueueOptions) => resolveQueueOptions(settings.options(raw)),
      inject: [RAW_OPTIONS],
    });
    overrideOf(builder, ControlConnections).useFactory({
      factory: connectionsFactory(settings).useFactory,
      inject: [QUEUE_OPTIONS],
    });
    return builder;
  }
}

function connectionsFactory(settings: TestSettings) {
  return { useFactory: (options: ResolvedQueueOptions) => settings.connections(options) };
}

function overrideOf(builder: TestingBuilder, token: unknown): Override {
  return builder.overrideProvider(token as never);
}
