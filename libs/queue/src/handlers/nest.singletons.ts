import { markOf, type NestProvider, sameAgain, sourceOf } from './nest.provider.js';
import { requestChain } from './nest.scope.js';

/** Discoverable is Nest's DiscoveryService, which explorers alone inject. */
export interface Discoverable {
  getControllers(): NestProvider[];
  getProviders(): NestProvider[];
}

/** FoundOnce is what is marked and of which there is one for the process, and what else is marked. */
export interface FoundOnce {
  readonly mistakes: readonly { readonly reason: string; readonly source: string }[];
  readonly singletons: readonly NestProvider[];
}

/** foundOnce answers the marked singletons, each instance once. A class that two modules list is two instances, each of which would be called (K35). */
export function foundOnce(discovery: Discoverable, mark: symbol): FoundOnce {
  const mistakes: { reason: string; source: string }[] = [];
  const singletons: NestProvider[] = [];
  const refuse = (provider: NestProvider, reason: string) => mistakes.push({ reason, source: sourceOf(provider) });
  for (const controller of discovery.getControllers()) {
    if (markOf(controller, mark) !== undefined)
      refuse(controller, 'it is a controller: make it a class of its own, under providers');
  }
  for (const provider of discovery.getProviders()) {
    if (markOf(provider, mark) === undefined || provider.isAlias) continue;
    if (provider.isTransient) refuse(provider, 'it is transient: make it a singleton');
    else if (!provider.isDependencyTreeStatic())
      refuse(
        provider,
        `it is request-scoped (${requestChain(provider).join(' → ')}): make it a singleton, which gets the job with each call`,
      );
    else if (!singletons.some((other) => other.instance === provider.instance || sameAgain(other, provider))) {
      const twin = singletons.find((other) => isTwin(other, provider));
      if (twin)
        refuse(provider, `it is there twice, the other is ${sourceOf(twin)}: list it in one module, and export it`);
      else singletons.push(provider);
    }
  }
  return { mistakes, singletons };
}

/** Two that a factory or a value makes may be meant; a class that is listed twice is not. */
function isTwin(first: NestProvider, second: NestProvider): boolean {
  return first.token === second.token && first.metatype === second.metatype && first.token === first.metatype;
}
