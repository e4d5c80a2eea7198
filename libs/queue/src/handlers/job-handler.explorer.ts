import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { InvalidHandlerError } from '../errors/invalid-handler.error.js';
import { JOB_HANDLER, type JobHandlerMetadata } from './job-handler.decorator.js';
import type { HandlerEntry } from './job-handler.registry.js';

/** ProviderOfNest is what the discovery answers for each provider. */
type ProviderOfNest = ReturnType<DiscoveryService['getProviders']>[number];

/**
 * JobHandlerExplorer finds the providers that `@JobHandler` marked, and answers data; it registers nothing.
 *
 * A provider is known by its instance and its definition, never by its class's name (K136); an alias is the same instance and counts once
 * (K35); one made by a factory or given as a value is found by its own class or, where it replaces a class in a test, by its token (K138).
 */
@Injectable()
export class JobHandlerExplorer {
  constructor(private readonly discovery: DiscoveryService) {}

  /** explore answers every handler once. Throws InvalidHandlerError for one that is request-scoped or transient, or has no `run`. */
  explore(): HandlerEntry[] {
    const seen = new Map<unknown, Set<string>>();
    const entries: HandlerEntry[] = [];
    for (const provider of this.discovery.getProviders()) {
      for (const metadata of metadataOf(provider)) {
        const handler = instanceOf(provider, metadata);
        const kinds = seen.get(handler) ?? new Set();
        if (kinds.has(metadata.definition.kind)) continue;
        seen.set(handler, kinds.add(metadata.definition.kind));
        entries.push({
          definition: metadata.definition,
          handler,
          mode: metadata.mode,
          source: sourceOf(provider),
        } as HandlerEntry);
      }
    }
    return entries;
  }
}

function instanceOf(provider: ProviderOfNest, { definition }: JobHandlerMetadata): unknown {
  const where = `${sourceOf(provider)} of ${definition.kind}`;
  if (!provider.isDependencyTreeStatic()) {
    throw new InvalidHandlerError(
      where,
      'it is request-scoped, or something that it injects is: a job has no request, so make them singletons',
    );
  }
  if (provider.isTransient)
    throw new InvalidHandlerError(where, 'it is transient: make it a singleton, a handler runs many jobs at once');
  const instance: unknown = provider.instance;
  if (typeof (instance as { run?: unknown } | null | undefined)?.run !== 'function') {
    throw new InvalidHandlerError(where, 'it has no function run');
  }
  return instance;
}

function metadataOf(provider: ProviderOfNest): readonly JobHandlerMetadata[] {
  const instance = provider.instance as { constructor?: unknown } | null | undefined;
  for (const candidate of [provider.metatype, instance?.constructor, provider.token]) {
    if (typeof candidate !== 'function') continue;
    const metadata = Reflect.getMetadata(JOB_HANDLER, candidate) as readonly JobHandlerMetadata[] | undefined;
    if (metadata) return metadata;
  }
  return [];
}

function sourceOf(provider: ProviderOfNest): string {
  const host: unknown = provider.host?.metatype?.name;
  return typeof host === 'string' ? `${String(provider.name)} (in ${host})` : String(provider.name);
}
