import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { InvalidQueueOptionsError } from '../errors/invalid-queue-options.error.js';
import { QueueEdgeModule } from './queue-edge.module.js';
import {
  type QueueModuleAsyncOptions,
  type QueueModuleOptions,
  type QueueOptionsFactory,
  RAW_OPTIONS,
} from './queue.module-options.js';
import { queueProviders, RUN_EXPORTS, SHARED_EXPORTS } from './queue.providers.js';
import { queueRoles, type QueueRole } from './queue.roles.js';

/**
 * QueueModule gives an application JobQueue, Jobs and UnitOfWork, and with the role run a Runner for its handlers.
 *
 * It is global and set up once: `QueueModule.forRoot({ database: pgPool(pool) })`, or `forRootAsync` where the database comes from a provider.
 * Options are checked when the application is created, all mistakes together; the tables before any provider of the application is initialised.
 */
@Module({})
export class QueueModule {
  /** forRoot sets the queue up with options that are at hand. */
  static forRoot({ roles, ...options }: QueueModuleOptions): DynamicModule {
    return QueueModule.build(roles, [{ provide: RAW_OPTIONS, useValue: options }], []);
  }

  /** forRootAsync sets the queue up with options from a factory, a class, or a provider that exists; `roles` stays beside them. */
  static forRootAsync({ imports = [], roles, ...source }: QueueModuleAsyncOptions): DynamicModule {
    return QueueModule.build(roles, rawOptions(source), imports);
  }

  private static build(
    given: readonly QueueRole[] | undefined,
    raw: Provider[],
    imports: NonNullable<DynamicModule['imports']>,
  ): DynamicModule {
    const roles = queueRoles(given);
    return {
      module: QueueModule,
      exports: roles.run ? [...SHARED_EXPORTS, ...RUN_EXPORTS] : SHARED_EXPORTS,
      global: true,
      imports: roles.run ? [...imports, DiscoveryModule, QueueEdgeModule] : imports,
      providers: [...raw, ...queueProviders(roles, QueueModule)],
    };
  }
}

function rawOptions({
  inject = [],
  useClass,
  useExisting,
  useFactory,
}: Omit<QueueModuleAsyncOptions, 'imports' | 'roles'>): Provider[] {
  const given = [useClass, useExisting, useFactory].filter((source) => source !== undefined);
  if (given.length !== 1) {
    throw new InvalidQueueOptionsError(['forRootAsync takes exactly one of useFactory, useClass and useExisting']);
  }
  if (useFactory) return [{ provide: RAW_OPTIONS, inject, useFactory }];
  const create = (factory: QueueOptionsFactory) => factory.createQueueOptions();
  if (useClass) return [useClass, { provide: RAW_OPTIONS, inject: [useClass], useFactory: create }];
  return [{ provide: RAW_OPTIONS, inject: [useExisting!], useFactory: create }];
}
