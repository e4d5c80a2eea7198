import type { InjectionToken, ModuleMetadata, OptionalFactoryDependency, Type } from '@nestjs/common';
import type { QueueOptions } from '../assembly/queue.options.js';
import type { QueueRole } from './queue.roles.js';

/** RolesOption says what this process does; it must be known before any provider is made. */
export interface RolesOption {
  /** roles: `'enqueue'` writes requests, `'run'` runs jobs, `'schedule'` runs the leader's duties. Default `HOLDFAST_ROLES` of the environment, else all. */
  readonly roles?: readonly QueueRole[];
}

/** QueueModuleOptions are the options of a queue, and the roles of this process. */
export interface QueueModuleOptions extends QueueOptions, RolesOption {}

/** QueueOptionsFactory makes the options: a class for `useClass` or `useExisting`. */
export interface QueueOptionsFactory {
  createQueueOptions(): QueueOptions | Promise<QueueOptions>;
}

/** QueueModuleAsyncOptions say where the options come from: exactly one of useFactory, useClass and useExisting. */
export interface QueueModuleAsyncOptions extends RolesOption, Pick<ModuleMetadata, 'imports'> {
  readonly inject?: (InjectionToken | OptionalFactoryDependency)[];
  readonly useClass?: Type<QueueOptionsFactory>;
  readonly useExisting?: InjectionToken<QueueOptionsFactory>;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as in Nest: the arguments are whatever `inject` names
  readonly useFactory?: (...injected: any[]) => QueueOptions | Promise<QueueOptions>;
}

/** QUEUE_OPTIONS is the token of the resolved options. */
export const QUEUE_OPTIONS = Symbol('holdfast.queue-options');

/** RAW_OPTIONS is the token of the options as they were given; nobody reads them but the provider of QUEUE_OPTIONS. */
export const RAW_OPTIONS = Symbol('QueueModule options');
