/* eslint-disable no-restricted-syntax -- an application may have cycles of its own */
import type { InjectionToken } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { InvalidQueueOptionsError } from '../errors/invalid-queue-options.error.js';
import { RAW_OPTIONS } from './queue.module-options.js';

type Module = ModulesContainer extends ReadonlyMap<string, infer M> ? M : never;
type Provider = NonNullable<ReturnType<Module['getProviderByKey']>>;

/** What Nest writes to say which class or token each parameter of a constructor is given. */
const PARAMETERS = 'design:paramtypes';
const NAMED_PARAMETERS = 'self:paramtypes';

/**
 * refuseCycle throws InvalidQueueOptionsError where what makes the options of a queue needs that queue, with the way round (K140).
 *
 * Of such a cycle through a factory NestJS 11 says nothing: its start never ends.
 */
export function refuseCycle(modules: ModulesContainer): void {
  for (const module of modules.values()) {
    const way = module.providers.has(RAW_OPTIONS) ? wayBack(module, module, RAW_OPTIONS, new Set()) : undefined;
    if (!way) continue;
    throw new InvalidQueueOptionsError([
      `what makes them needs the queue, which needs them: ${way.slice(1).join(' → ')}. Let it depend on nothing that enqueues`,
    ]);
  }
}

/** wayBack answers the names from a token to a provider of the queue itself, or undefined. */
function wayBack(
  queue: Module,
  from: Module,
  token: InjectionToken | undefined,
  seen: Set<Provider>,
): string[] | undefined {
  if (token === undefined) return undefined;
  const found = providerOf(from, token, new Set());
  if (!found || seen.has(found.provider)) return undefined;
  seen.add(found.provider);
  const name = typeof token === 'function' ? token.name : String(token);
  const { host, provider } = found;
  if (host === queue && queue.exports.has(token)) return [name];
  for (const needed of dependenciesOf(provider)) {
    const way = wayBack(queue, host, needed, seen);
    if (way) return [name, ...way];
  }
  return undefined;
}

function dependenciesOf({ inject, metatype }: Provider): (InjectionToken | undefined)[] {
  if (inject) return inject.map(tokenOf);
  if (typeof metatype !== 'function') return [];
  const classes = (Reflect.getMetadata(PARAMETERS, metatype) ?? []) as unknown[];
  const named = (Reflect.getMetadata(NAMED_PARAMETERS, metatype) ?? []) as { index: number; param: unknown }[];
  return classes.map((type, index) => tokenOf(named.find((one) => one.index === index)?.param ?? type));
}

/** providerOf looks where Nest does: in the module, then in what it imports and what those export. */
function providerOf(
  module: Module,
  token: InjectionToken,
  seen: Set<Module>,
): { readonly host: Module; readonly provider: Provider } | undefined {
  const own = module.providers.get(token);
  if (own) return { host: module, provider: own };
  seen.add(module);
  for (const imported of module.imports) {
    if (seen.has(imported) || !imported.exports.has(token)) continue;
    const found = providerOf(imported, token, seen);
    if (found) return found;
  }
  return undefined;
}

function tokenOf(needed: unknown): InjectionToken | undefined {
  const given = needed as { forwardRef?: () => unknown; token?: unknown } | null | undefined;
  if (typeof given?.forwardRef === 'function') return tokenOf(given.forwardRef());
  const token = typeof given === 'object' && given !== null && 'token' in given ? given.token : given;
  return (token ?? undefined) as InjectionToken | undefined;
}
