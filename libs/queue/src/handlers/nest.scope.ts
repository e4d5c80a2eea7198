import { Scope } from '@nestjs/common';
import { ContextIdFactory, ModuleRef, REQUEST } from '@nestjs/core';
import type { Job } from '../domain/job.js';
import { dependenciesOf, type NestDependency } from './nest.dependencies.js';
import type { NestProvider } from './nest.provider.js';

/** ScopeProblem is why a provider cannot be made for a job, and the chain of providers that leads there. */
export interface ScopeProblem {
  readonly chain: readonly string[];
  readonly reason: string;
}

/** chainTo answers the providers from this one to the first below it that `matches`, by their names, or undefined. */
export function chainTo(
  provider: NestProvider,
  matches: (candidate: NestProvider) => boolean,
): readonly string[] | undefined {
  return search(provider, (candidate) => matches(candidate), new Set());
}

/** jobScoped answers how a request-scoped provider is had for a job: a context of its own, with the job as REQUEST, which goes when the job has gone. */
export function jobScoped(provider: NestProvider): (job: Job<never>) => Promise<unknown> {
  const moduleRef = provider.host!.getProviderByKey<ModuleRef>(ModuleRef).instance;
  return (job) => {
    const contextId = ContextIdFactory.create();
    moduleRef.registerRequestByContextId(job, contextId);
    return moduleRef.resolve(provider.token, contextId, { strict: true });
  };
}

/** requestChain names the providers from this one to what makes it request-scoped. */
export function requestChain(provider: NestProvider): readonly string[] {
  return chainTo(provider, ({ scope }) => scope === Scope.REQUEST) ?? [String(provider.name)];
}

/**
 * scopeProblem answers why a request-scoped provider cannot be made for each job, or undefined. What it can see: a durable provider below it, which is
 * shared between requests by a strategy that knows no jobs, and a REQUEST whose type is a class, which a job is not.
 */
export function scopeProblem(provider: NestProvider): ScopeProblem | undefined {
  const durable = chainTo(provider, (candidate) => candidate.scope === Scope.REQUEST && candidate.durable === true);
  if (durable)
    return {
      chain: durable,
      reason: `${durable.join(' → ')} is durable: requests share it, and for jobs it would be made anew each time. Make it a singleton, or request-scoped alone`,
    };
  let type = '';
  const http = search(
    provider,
    (candidate, parent, at) => {
      const found = candidate.token === REQUEST && parent ? typeAt(parent, at) : undefined;
      type = found?.name ?? type;
      return found !== undefined;
    },
    new Set(),
  );
  return (
    http && {
      chain: http,
      reason: `${http.join(' → ')} is typed ${type}, and for a job it is the job: type it Job, or keep what needs an HTTP request out of the handler`,
    }
  );
}

type Matches = (candidate: NestProvider, parent: NestProvider | undefined, at: NestDependency['at']) => boolean;

function search(
  provider: NestProvider,
  matches: Matches,
  seen: Set<NestProvider>,
  parent?: NestProvider,
  at: NestDependency['at'] = 0,
): string[] | undefined {
  if (matches(provider, parent, at)) return [String(provider.name)];
  if (seen.has(provider)) return undefined;
  seen.add(provider);
  for (const dependency of dependenciesOf(provider)) {
    const below = dependency.provider && search(dependency.provider, matches, seen, provider, dependency.at);
    if (below) return [String(provider.name), ...below];
  }
  return undefined;
}

/** typeAt answers the class that a parameter or a property is declared to be; an interface leaves no trace and is none. */
function typeAt(parent: NestProvider, at: NestDependency['at']): { readonly name: string } | undefined {
  const { metatype } = parent;
  if (typeof metatype !== 'function' || parent.inject) return undefined;
  const declared: unknown =
    typeof at === 'number'
      ? (Reflect.getMetadata('design:paramtypes', metatype) as unknown[] | undefined)?.[at]
      : Reflect.getMetadata('design:type', metatype.prototype as object, at);
  return typeof declared === 'function' && declared !== Object ? declared : undefined;
}
