import { Statement } from '@holdfast/kernel';

/**
 * Marks a transaction that the run did not open itself as the run's, which is what the fence of complete-run looks for (R22).
 *
 * Locks: none. The mark is local to the transaction.
 */
export const markRun = new Statement<{ readonly token: string }, unknown>({
  name: 'mark-run',
  text: () => `SELECT set_config('holdfast.run', $1::text, true)`,
  values: ({ token }) => [token],
});
