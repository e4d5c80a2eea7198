import { Statement } from '@holdfast/kernel';

/**
 * Makes a duty due now; where it runs, once that run has ended.
 *
 * Locks: the row of the duty. Index: leader_duty_pk. Fence: none, asking twice is asking once.
 */
export const askDuty = new Statement<{ readonly name: string }, { readonly name: string }>({
  name: 'ask-duty',
  text: (schema) =>
    `UPDATE ${schema.of('leader_duty')} SET asked_at = clock_timestamp() WHERE name = $1::text RETURNING name`,
  values: (p) => [p.name],
});
