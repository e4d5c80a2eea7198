const MAX_ERRORS = 20;
const LINKS = ['cause', 'driverError', 'original', 'errors'] as const;

/** property reads a property of anything; a throwing getter or proxy answers undefined (K36). */
export function property(value: unknown, key: PropertyKey): unknown {
  try {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return undefined;
    return (value as Record<PropertyKey, unknown>)[key];
  } catch {
    return undefined;
  }
}

/**
 * errorChain answers an error followed by what it wraps: `cause`, TypeORM's `driverError`, the members of an AggregateError.
 *
 * Bounded, safe with cycles, and it never throws, whatever the value is (K36).
 */
export function errorChain(error: unknown): unknown[] {
  const chain: unknown[] = [error];
  for (let at = 0; at < chain.length && chain.length < MAX_ERRORS; at++) {
    for (const link of LINKS) {
      for (const inner of members(property(chain[at], link))) {
        if (chain.length < MAX_ERRORS && !chain.includes(inner)) chain.push(inner);
      }
    }
  }
  return chain;
}

function members(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  try {
    return Array.isArray(value) ? value.slice(0, MAX_ERRORS) : [value];
  } catch {
    return [];
  }
}
