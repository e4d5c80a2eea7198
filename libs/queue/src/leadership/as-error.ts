/** asError answers what was thrown as an error, for those who are told the reason of a loss. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
