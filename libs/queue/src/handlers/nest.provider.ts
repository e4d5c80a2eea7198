import { isDeepStrictEqual } from 'node:util';
import type { ModulesContainer } from '@nestjs/core';

type NestModule = NonNullable<ReturnType<ModulesContainer['get']>>;

/** NestProvider is what Nest knows of a provider or a controller. */
export type NestProvider = NonNullable<ReturnType<NestModule['providers']['get']>>;

type AnyClass = abstract new (...args: never[]) => unknown;

/** classesOf answers what a mark may be on: the provider's own class, that of its instance, and the class that it stands for by its token. */
export function classesOf(provider: NestProvider): AnyClass[] {
  const candidates: unknown[] = [provider.metatype, classOf(provider.instance), provider.token];
  return candidates.filter((candidate): candidate is AnyClass => typeof candidate === 'function');
}

/** markOf answers the metadata of the first class that has it (K138). */
export function markOf<T>(provider: NestProvider, mark: symbol): T | undefined {
  for (const candidate of classesOf(provider)) {
    const metadata = Reflect.getMetadata(mark, candidate) as T | undefined;
    if (metadata !== undefined) return metadata;
  }
  return undefined;
}

/**
 * marksAlong answers what decorators of methods have written on a class and on those that it extends; a method that is overridden keeps its mark, its own
 * where it has one that is the `same`.
 */
export function marksAlong<Mark>(marked: unknown, key: symbol, same: (one: Mark, other: Mark) => boolean): Mark[] {
  const marks: Mark[] = [];
  for (let owner = marked; typeof owner === 'function'; owner = Object.getPrototypeOf(owner)) {
    const own = (Reflect.getOwnMetadata(key, owner) ?? []) as readonly Mark[];
    marks.push(...own.filter((mark) => !marks.some((other) => same(mark, other))));
  }
  return marks;
}

/**
 * sameAgain tells that the second provider is the first one once more, because its dynamic module was made twice from equal options: the same class in the
 * same module class, with the same providers and values around it (K134). What factories close over cannot be compared: they are the same function, or not equal.
 */
export function sameAgain(first: NestProvider, second: NestProvider): boolean {
  return first.metatype === second.metatype && first.token === second.token && sameModule(first.host, second.host);
}

/** sourceOf names a provider's class, the token where that says something else, and its module, for messages. */
export function sourceOf(provider: NestProvider): string {
  const name = String(provider.name);
  const own = provider.isDependencyTreeStatic() ? nameOf(classOf(provider.instance)) : undefined;
  const host = nameOf(provider.host?.metatype);
  const called = own === undefined || own === name ? name : `${own} provided as ${name}`;
  return host === undefined ? called : `${called} (in ${host})`;
}

/** What an application gives as a value may throw when it is looked at. */
function classOf(instance: unknown): unknown {
  try {
    return (instance as { constructor?: unknown } | null | undefined)?.constructor;
  } catch {
    return undefined;
  }
}

function nameOf(given: unknown): string | undefined {
  const name = typeof given === 'function' ? given.name : '';
  return ['', 'Function', 'Object'].includes(name) ? undefined : name;
}

function sameModule(first: NestModule | undefined, second: NestModule | undefined, depth = 0): boolean {
  if (first === second) return true;
  if (!first || !second || first.metatype !== second.metatype || depth > 8) return false;
  return sameProviders(first, second) && sameImports(first, second, depth);
}

function sameImports(first: NestModule, second: NestModule, depth: number): boolean {
  const [some, others] = [[...first.imports], [...second.imports]];
  return some.length === others.length && some.every((module, at) => sameModule(module, others[at], depth + 1));
}

function sameProviders(first: NestModule, second: NestModule): boolean {
  if (first.providers.size !== second.providers.size) return false;
  return [...first.providers].every(([token, provider]) => {
    const other = second.providers.get(token);
    if (!other || other.scope !== provider.scope) return false;
    if (provider.isAlias || other.isAlias) return isDeepStrictEqual(provider.inject, other.inject);
    if (other.metatype !== provider.metatype) return false;
    return provider.metatype !== null || sameValue(provider.instance, other.instance);
  });
}

function sameValue(first: unknown, second: unknown): boolean {
  try {
    return isDeepStrictEqual(first, second);
  } catch {
    return false;
  }
}
