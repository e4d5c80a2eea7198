import { Statement } from '@holdfast/kernel';

/** CompleteGroupParams are the runs of a group by parallel arrays; outcomes and delays are null where no run has any. */
export interface CompleteGroupParams {
  readonly delays: readonly (number | null)[] | null;
  readonly ids: readonly string[];
  readonly mark: string;
  readonly outcomes: readonly (string | null)[] | null;
  readonly tokens: readonly string[];
}

/**
 * Ends the runs of a group as SUCCEEDED, or sends them back to PENDING, inside their transaction, as the last statement before COMMIT (R2, R21).
 *
 * Locks: the jobs' rows, in the order of ids, until the COMMIT that travels with it. Index: job_pk, by the array. Fence: RUNNING, each run's own token, and the
 * transaction's mark of the group; raises HF001 or HF002 unless it fences all of them, because COMMIT comes right behind.
 */
export const completeGroup = new Statement<CompleteGroupParams, never>({
  name: 'complete-group',
  text: (schema) =>
    `SELECT ${schema.of('complete_group')}($1::text, $2::bigint[], $3::uuid[], $4::text[], $5::bigint[])`,
  values: (p) => [p.mark, p.ids, p.tokens, p.outcomes, p.delays],
});
