/** rejection answers what a promise rejects with, and throws when it resolves. */
export function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('It did not reject.');
    },
    (error: unknown) => error,
  );
}
