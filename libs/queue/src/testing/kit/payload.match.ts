/** Where a value differs from what was expected, as `path: expected … , there is …`. */
export type Difference = string;

const MAX_SHOWN = 200;

interface Asymmetric {
  asymmetricMatch(other: unknown): boolean;
  toString(): string;
}

/**
 * differences answers where a value does not hold what is expected of it: an object may have more fields, a list may not have more entries. Matchers of
 * Jest and Vitest such as `expect.any(String)` match what they say.
 */
export function differences(expected: unknown, actual: unknown, path = ''): Difference[] {
  if (isAsymmetric(expected)) return expected.asymmetricMatch(actual) ? [] : [difference(path, expected, actual)];
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return [difference(path, expected, actual)];
    return expected.flatMap((each, index) => differences(each, actual[index], `${path}[${index}]`));
  }
  if (expected instanceof Date) return differences(expected.toJSON(), actual, path);
  if (typeof expected === 'object' && expected !== null) {
    if (typeof actual !== 'object' || actual === null || Array.isArray(actual))
      return [difference(path, expected, actual)];
    return Object.entries(expected).flatMap(([name, each]) =>
      differences(each, (actual as Record<string, unknown>)[name], path === '' ? name : `${path}.${name}`),
    );
  }
  return Object.is(expected, actual) ? [] : [difference(path, expected, actual)];
}

/** shown is a value as a message shows it. */
export function shown(value: unknown): string {
  let text: string;
  try {
    text = JSON.stringify(value) ?? String(value);
  } catch {
    text = String(value);
  }
  if (isAsymmetric(value)) text = value.toString();
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

function difference(path: string, expected: unknown, actual: unknown): Difference {
  return `${path === '' ? 'payload' : path}: expected ${shown(expected)}, there is ${shown(actual)}`;
}

function isAsymmetric(value: unknown): value is Asymmetric {
  return typeof (value as Partial<Asymmetric> | null | undefined)?.asymmetricMatch === 'function';
}
