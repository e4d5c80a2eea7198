import type { Provider } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { QueueOptions } from '../assembly/queue.options.js';
import { InvalidQueueOptionsError } from '../errors/invalid-queue-options.error.js';
import { refuseCycle } from './options.cycle.js';
import { type QueueModuleAsyncOptions, type QueueOptionsFactory, RAW_OPTIONS } from './queue.module-options.js';

const OPTIONS_GUARD = Symbol('QueueModule options guard');

const NAMES: Readonly<Record<keyof QueueModuleAsyncOptions, true>> = {
  imports: true,
  inject: true,
  roles: true,
  useClass: true,
  useExisting: true,
  useFactory: true,
};

/** optionsProviders answers what provides the options as they are given. Throws InvalidQueueOptionsError where there is not exactly one source. */
export function optionsProviders(given: QueueModuleAsyncOptions): Provider[] {
  const { inject, useClass, useExisting, useFactory } = given;
  const problems = problemsOf(given);
  if (problems.length > 0) throw new InvalidQueueOptionsError(problems);
  const guard = { provide: OPTIONS_GUARD, inject: [ModulesContainer], useFactory: refuseCycle };
  if (useFactory) return [guard, { provide: RAW_OPTIONS, inject: inject ?? [], useFactory }];
  if (useClass) return [guard, useClass, { provide: RAW_OPTIONS, inject: [useClass], useFactory: optionsOf }];
  return [guard, { provide: RAW_OPTIONS, inject: [useExisting!], useFactory: optionsOf }];
}

function optionsOf(factory: Partial<QueueOptionsFactory> | null): QueueOptions | Promise<QueueOptions> {
  if (typeof factory?.createQueueOptions === 'function') return factory.createQueueOptions();
  const name = typeof factory === 'object' && factory !== null ? factory.constructor.name : String(factory);
  throw new InvalidQueueOptionsError([`${name}, which is to make them, has no method createQueueOptions`]);
}

function problemsOf(given: QueueModuleAsyncOptions): string[] {
  const { inject, useClass, useExisting, useFactory } = given;
  const problems = Object.keys(given)
    .filter((name) => !Object.hasOwn(NAMES, name))
    .map((name) => `${name} is no option of forRootAsync: options of the queue are what its factory answers`);
  if ([useClass, useExisting, useFactory].filter((source) => source !== undefined).length !== 1)
    problems.push('forRootAsync takes exactly one of useFactory, useClass and useExisting');
  if (useFactory !== undefined && typeof useFactory !== 'function') problems.push('useFactory must be a function');
  if (useClass !== undefined && typeof useClass !== 'function') problems.push('useClass must be a class');
  if (inject !== undefined && !useFactory) problems.push('inject goes with useFactory');
  return problems;
}
