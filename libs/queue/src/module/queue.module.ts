import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { DiscoveryModule, ModulesContainer } from '@nestjs/core';
import { readOnce } from '../assembly/queue.options.check.js';
import { InvalidQueueOptionsError } from '../errors/invalid-queue-options.error.js';
import { healthExports } from './health.providers.js';
import { optionsProviders } from './options.source.js';
import { QueueEdgeModule } from './queue-edge.module.js';
import { type QueueModuleAsyncOptions, type QueueModuleOptions, RAW_OPTIONS } from './queue.module-options.js';
import { queueProviders, RUN_EXPORTS, SHARED_EXPORTS } from './queue.providers.js';
import { queueRoles, type QueueRole } from './queue.roles.js';
import { SCHEDULE_EXPORTS } from './schedule.providers.js';

/**
 * QueueModule gives an application JobQueue, Jobs and UnitOfWork, with the role run a Runner for its handlers, and with the role
 * schedule a Scheduler for its duties and Leadership for names of its own.
 *
 * It is global and set up once: `QueueModule.forRoot({ database: pgPool(pool) })`, or `forRootAsync` where the database comes from a provider.
 * Options are checked when the application is created, all mistakes together; the tables before any provider of the application is initialised.
 */
@Module({})
export class QueueModule {
  /** Nest makes one for each place where the module is imported. Throws InvalidQueueOptionsError where none of them has options. */
  constructor(modules: ModulesContainer) {
    if (![...modules.values()].some(({ providers }) => providers.has(RAW_OPTIONS)))
      throw new InvalidQueueOptionsError([
        'there are none: imports lists the bare QueueModule. Write QueueModule.forRoot({ database: … }) or forRootAsync in the root module; as it is global, no other module needs to import it',
      ]);
  }

  /** forRoot sets the queue up with options that are at hand. What is wrong with them is told when the application is created. */
  static forRoot(given: QueueModuleOptions): DynamicModule {
    const { roles, ...options }: Partial<QueueModuleOptions> = readOnce(given ?? {});
    // A getter of a class is no property of its own.
    return QueueModule.build(roles ?? given?.roles, [{ provide: RAW_OPTIONS, useValue: options }], []);
  }

  /**
   * forRootAsync sets the queue up with options from a factory, a class, or a provider that exists; `roles` stays beside them.
   *
   * Throws InvalidQueueOptionsError where there is not exactly one source. What the source throws, or rejects with, fails the start as it is.
   */
  static forRootAsync(given: QueueModuleAsyncOptions): DynamicModule {
    return QueueModule.build(given?.roles, optionsProviders(given ?? {}), given?.imports ?? []);
  }

  private static build(
    given: readonly QueueRole[] | undefined,
    raw: Provider[],
    imports: NonNullable<DynamicModule['imports']>,
  ): DynamicModule {
    const roles = queueRoles(given);
    return {
      module: QueueModule,
      exports: [
        ...SHARED_EXPORTS,
        ...healthExports(roles),
        ...new Set([...(roles.run ? RUN_EXPORTS : []), ...(roles.schedule ? SCHEDULE_EXPORTS : [])]),
      ],
      global: true,
      imports: [...imports, QueueEdgeModule, ...(roles.run || roles.schedule ? [DiscoveryModule] : [])],
      providers: [...raw, ...queueProviders(roles)],
    };
  }
}
