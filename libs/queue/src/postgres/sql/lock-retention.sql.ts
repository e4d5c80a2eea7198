import { Statement } from '@holdfast/kernel';

/**
 * Takes the right to write down what definitions say of retention until the transaction ends.
 *
 * Locks: the table job_retention against other writers, waited for: they are runners that start, and short. Index: none. Fence: none.
 */
export const lockRetention = new Statement<object, never>({
  name: 'lock-retention',
  text: (schema) => `LOCK TABLE ${schema.of('job_retention')} IN SHARE ROW EXCLUSIVE MODE`,
  values: () => [],
});
