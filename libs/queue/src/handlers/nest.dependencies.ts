import type { InjectionToken, OptionalFactoryDependency } from '@nestjs/common';
import type { NestProvider } from './nest.provider.js';

/** NestDependency is what a provider injects. */
export interface NestDependency {
  /** at is the place: the index of a parameter, or the key of a property. */
  readonly at: number | string | symbol;
  /** provider is undefined where nobody provides it, or it is not known. */
  readonly provider: NestProvider | undefined;
}

/** Where Nest's decorators leave what was declared: the classes of parameters, the tokens of some of them, and those of properties. */
const PARAMETER_CLASSES = 'design:paramtypes';
const PARAMETER_TOKENS = 'self:paramtypes';
const PROPERTY_TOKENS = 'self:properties_metadata';

type Declared = InjectionToken | Record<'forwardRef', () => InjectionToken>;

/**
 * dependenciesOf answers what a provider injects. Nest knows it once it has looked it up; NestJS 11 does that for some request-scoped providers only when
 * the first one is made, so until then it is what the decorators declare.
 */
export function dependenciesOf(provider: NestProvider): NestDependency[] {
  const parameters = provider.getCtorMetadata();
  const properties = provider.getPropertiesMetadata();
  return [
    ...(parameters ? [...parameters].map((found, at) => ({ at, provider: found })) : declaredParameters(provider)),
    ...(properties
      ? properties.map(({ key, wrapper }) => ({ at: key, provider: wrapper }))
      : declaredProperties(provider)),
  ];
}

function declaredParameters({ host, inject, metatype }: NestProvider): NestDependency[] {
  const tokens: Declared[] = [];
  if (inject) {
    for (const token of inject) tokens.push(isOptional(token) ? token.token : token);
  } else if (typeof metatype === 'function') {
    tokens.push(...((Reflect.getMetadata(PARAMETER_CLASSES, metatype) ?? []) as Declared[]));
    const named = (Reflect.getMetadata(PARAMETER_TOKENS, metatype) ?? []) as { index: number; param: Declared }[];
    for (const { index, param } of named) tokens[index] = param;
  }
  return [...tokens].map((token, at) => ({ at, provider: lookUp(tokenOf(token), host) }));
}

function declaredProperties({ host, inject, metatype }: NestProvider): NestDependency[] {
  if (inject || typeof metatype !== 'function') return [];
  const declared = (Reflect.getMetadata(PROPERTY_TOKENS, metatype) ?? []) as { key: string | symbol; type: Declared }[];
  return declared.map(({ key, type }) => ({ at: key, provider: lookUp(tokenOf(type), host) }));
}

function isOptional(token: unknown): token is OptionalFactoryDependency {
  return typeof token === 'object' && token !== null && 'token' in token;
}

/** lookUp answers what a module gets for a token: its own, or one that an import exports. */
function lookUp(token: InjectionToken | undefined, module: NestProvider['host']): NestProvider | undefined {
  if (token === undefined || !module) return undefined;
  const seen = new Set<NestProvider['host']>([module]);
  const exported = (from: NonNullable<NestProvider['host']>): NestProvider | undefined => {
    for (const imported of from.imports) {
      if (seen.has(imported) || (from !== module && !from.exports.has(imported.metatype))) continue;
      seen.add(imported);
      const found = (imported.exports.has(token) && imported.providers.get(token)) || exported(imported);
      if (found) return found;
    }
    return undefined;
  };
  return module.providers.get(token) ?? exported(module);
}

function tokenOf(declared: Declared | undefined): InjectionToken | undefined {
  const later = typeof declared === 'object' && 'forwardRef' in declared ? declared['forwardRef'] : undefined;
  return later ? later() : (declared as InjectionToken | undefined);
}
