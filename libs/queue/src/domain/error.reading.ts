/** The most errors looked at behind one thrown value; a wrapping deeper or wider than that says nothing new. */
const MAX_ERRORS = 50;
/** How much of an AggregateError's list is looked at. */
const MAX_SIBLINGS = 20;

/** readProperty answers a property of anything, or undefined where reading it throws: getters, proxies, null (R8). */
export function readProperty(value: unknown, key: PropertyKey): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return undefined;
  try {
    return (value as Record<PropertyKey, unknown>)[key];
  } catch {
    return undefined;
  }
}

/**
 * errorsBehind answers a thrown value and everything it wraps, outermost first: `cause`, a driver's error, the members of an
 * AggregateError or of rxjs' UnsubscriptionError.
 *
 * Bounded, safe for cycles, and it never throws.
 */
export function errorsBehind(thrown: unknown): unknown[] {
  const found: unknown[] = [thrown];
  const seen = new Set<unknown>(found);
  for (let index = 0; index < found.length; index += 1) {
    for (const inner of wrappedBy(found[index])) {
      if (found.length >= MAX_ERRORS) return found;
      if (inner === undefined || inner === null || seen.has(inner)) continue;
      seen.add(inner);
      found.push(inner);
    }
  }
  return found;
}

function wrappedBy(error: unknown): unknown[] {
  const wrapped = [readProperty(error, 'cause'), readProperty(error, 'driverError')];
  const errors = readProperty(error, 'errors');
  const length = readProperty(errors, 'length');
  if (typeof length !== 'number') return wrapped;
  for (let index = 0; index < Math.min(length, MAX_SIBLINGS); index += 1) wrapped.push(readProperty(errors, index));
  return wrapped;
}
