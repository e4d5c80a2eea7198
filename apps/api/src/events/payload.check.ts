/** PayloadProblem is the first thing in a payload that could not be stored as it was sent. */
export interface PayloadProblem {
  readonly message: string;
  readonly path: string[];
}

/** The server's parser and JSON.stringify end at a few thousand levels; no payload of a person is near this. */
const MAX_DEPTH = 100;

/** payloadProblem finds nesting that no JSON parser takes back, and numbers beyond a double, which JSON would turn into null. */
export function payloadProblem(payload: unknown, path: string[] = []): PayloadProblem | undefined {
  if (typeof payload === 'number' && !Number.isFinite(payload)) return { message: 'this number is out of range', path };
  if (typeof payload !== 'object' || payload === null) return undefined;
  if (path.length >= MAX_DEPTH)
    return { message: `expected at most ${MAX_DEPTH} levels of nesting`, path: path.slice(0, 3) };
  for (const [key, value] of Object.entries(payload)) {
    const problem = payloadProblem(value, [...path, key]);
    if (problem) return problem;
  }
  return undefined;
}
