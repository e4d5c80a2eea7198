import 'reflect-metadata';
import type { AnyJobDefinition, JobDefinition } from '../domain/definition.js';
import { InvalidInterceptorError } from '../errors/invalid-interceptor.error.js';
import { rememberDecorated } from './decorated.classes.js';
import { interceptOptions } from './job-interceptor.registry.js';
import type { Intercepting, InterceptOptions } from './job.interceptor.js';

/** JOB_INTERCEPTOR is where the options are; the explorer alone reads it. */
export const JOB_INTERCEPTOR = Symbol.for('holdfast.job-interceptor');

type ClassOf<Interceptor> = new (...args: never[]) => Interceptor;

/**
 * InterceptJobs makes a provider stand around handler calls: `@InterceptJobs()` around all, `@InterceptJobs({ only: [DeliverWebhook] })` around those of
 * these definitions, `order` says how far outside (R20).
 *
 * A class whose `intercept` takes the calls of other definitions does not compile. Throws InvalidInterceptorError for an option that there is not, and
 * for a definition that is still undefined because two files import each other.
 */
export function InterceptJobs(options?: {
  readonly order?: number;
}): (target: ClassOf<Intercepting<JobDefinition>>) => void;
export function InterceptJobs<D extends AnyJobDefinition>(options: {
  readonly only: readonly D[];
  readonly order?: number;
}): (target: ClassOf<Intercepting<D>>) => void;
export function InterceptJobs(options?: InterceptOptions): (target: ClassOf<unknown>) => void {
  return (target) => {
    if (Reflect.hasOwnMetadata(JOB_INTERCEPTOR, target))
      throw new InvalidInterceptorError(target.name, 'it is marked twice: name all definitions in one');
    Reflect.defineMetadata(JOB_INTERCEPTOR, interceptOptions(target.name, options), target);
    rememberDecorated({ decorator: '@InterceptJobs', target });
  };
}
