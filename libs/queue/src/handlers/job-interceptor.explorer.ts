import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { InvalidInterceptorError } from '../errors/invalid-interceptor.error.js';
import type { Explored } from './explored.js';
import { JOB_INTERCEPTOR } from './intercept-jobs.decorator.js';
import type { InterceptorEntry } from './job-interceptor.registry.js';
import type { Intercepting, InterceptOptions } from './job.interceptor.js';
import { markOf, sourceOf } from './nest.provider.js';
import { foundOnce } from './nest.singletons.js';

/** JobInterceptorExplorer finds the providers that `@InterceptJobs` marked, and answers data; it registers nothing. */
@Injectable()
export class JobInterceptorExplorer {
  constructor(private readonly discovery: DiscoveryService) {}

  /** explore answers every interceptor once, and an InvalidInterceptorError for each that is no singleton, is misplaced or is there twice. */
  explore(): Explored<InterceptorEntry> {
    const { mistakes, singletons } = foundOnce(this.discovery, JOB_INTERCEPTOR);
    const entries = singletons.map((provider) => ({
      ...markOf<InterceptOptions>(provider, JOB_INTERCEPTOR),
      interceptor: provider.instance as Intercepting<never>,
      source: sourceOf(provider),
    }));
    return { entries, mistakes: mistakes.map(({ reason, source }) => new InvalidInterceptorError(source, reason)) };
  }
}
