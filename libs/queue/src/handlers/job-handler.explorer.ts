import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { Job } from '../domain/job.js';
import { InvalidHandlerError } from '../errors/invalid-handler.error.js';
import type { Explored } from './explored.js';
import { checkRuns, type HandlerMode } from './handler.check.js';
import type { HandlerEntry } from './handler.entry.js';
import { JOB_HANDLER, type JobHandlerMetadata } from './job-handler.decorator.js';
import { markOf, type NestProvider, sameAgain, sourceOf } from './nest.provider.js';
import { jobScoped, requestChain, scopeProblem } from './nest.scope.js';

type Marks = readonly JobHandlerMetadata[];

/**
 * JobHandlerExplorer finds the providers that `@JobHandler` marked, and answers data; it registers nothing.
 *
 * A provider is known by its instance, or by what Nest knows of it where it is made for each job, never by its class's name (K136); an alias is the same
 * provider and counts once (K35), and so is one that a dynamic module made again from equal options (K134); one made by a factory or given as a value is
 * found by its own class or, where it replaces a class in a test, by its token (K138).
 */
@Injectable()
export class JobHandlerExplorer {
  constructor(private readonly discovery: DiscoveryService) {}

  /** explore answers every handler once, and an InvalidHandlerError for each that is transient or misplaced, has no `run`, or cannot be made for a job. */
  explore(): Explored<HandlerEntry> {
    const found = new Map<string, NestProvider[]>();
    const entries: HandlerEntry[] = [];
    const mistakes: Error[] = this.misplaced();
    for (const provider of this.discovery.getProviders()) {
      for (const metadata of markOf<Marks>(provider, JOB_HANDLER) ?? []) {
        const { kind } = metadata.definition;
        const others = found.get(kind) ?? [];
        if (isAliasOf(provider, metadata) || others.some((other) => sameAgain(other, provider))) continue;
        found.set(kind, [...others, provider]);
        try {
          entries.push(entryOf(provider, metadata));
        } catch (error) {
          mistakes.push(error as Error);
        }
      }
    }
    return { entries, mistakes };
  }

  private misplaced(): Error[] {
    const marked = this.discovery.getControllers().filter((controller) => markOf(controller, JOB_HANDLER));
    return marked.map(
      (controller) =>
        new InvalidHandlerError(
          sourceOf(controller),
          'it is a controller: make it a class of its own, under providers',
        ),
    );
  }
}

/** checked throws InvalidHandlerError, by the whole name, for an instance without `run`, or without `runBatch` for batches. */
function checked(instance: unknown, where: string, mode: HandlerMode): unknown {
  checkRuns(instance, where, mode);
  return instance;
}

function entryOf(provider: NestProvider, metadata: JobHandlerMetadata): HandlerEntry {
  const { definition, mode } = metadata;
  const source = sourceOf(provider);
  const where = `${source} of ${definition.kind}`;
  if (provider.isTransient)
    throw new InvalidHandlerError(
      where,
      'it is transient: make it a singleton, which runs many jobs at once, or request-scoped, which is made for each job',
    );
  if (provider.isDependencyTreeStatic()) {
    const handler = checked(provider.instance, where, mode);
    return { ...metadata, identity: handler, resolve: () => handler, source } as HandlerEntry;
  }
  if (mode === 'batch')
    throw new InvalidHandlerError(
      where,
      'it is request-scoped, which is made for one job, and runs many in one call: make it a singleton',
      requestChain(provider),
    );
  const problem = scopeProblem(provider);
  if (problem) throw new InvalidHandlerError(where, problem.reason, problem.chain);
  const make = jobScoped(provider);
  const resolve = async (job: Job<never>) => checked(await make(job), where, mode);
  return { definition, identity: provider, mode, resolve, source } as HandlerEntry;
}

/** An alias of a request-scoped handler has no instance to be known by; its target is found by itself. */
function isAliasOf(provider: NestProvider, { definition }: JobHandlerMetadata): boolean {
  if (!provider.isAlias || provider.isDependencyTreeStatic()) return false;
  const [target] = provider.getCtorMetadata() ?? [];
  const marks = target ? (markOf<Marks>(target, JOB_HANDLER) ?? []) : [];
  return marks.some((mark) => mark.definition.kind === definition.kind);
}
