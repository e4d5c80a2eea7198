import type { SchemaName } from '@holdfast/kernel';

const ARGUMENTS = 'text, bigint[], uuid[], text[], bigint[]';

/**
 * completeGroup makes `complete_group`: the fenced completion of several runs that were made in one transaction, sent together with its COMMIT (R2, R21).
 *
 * It raises unless every one of them is fenced: HF001 when a lease is lost, HF002 when the transaction does not carry the group's mark. The arrays go by
 * run; a delay sends a run's job back to PENDING, by `repeat_run` itself, so that a repetition means here whatever it means alone. Rows are locked in the order of
 * ids: by the index where they are completed alone, by a statement of its own where some repeat.
 */
export function completeGroup(schema: SchemaName): string[] {
  const job = schema.of('job');
  return [
    `CREATE FUNCTION ${schema.of('complete_group')}(p_mark text, p_jobs bigint[], p_tokens uuid[], p_outcomes text[], p_delays bigint[])
RETURNS void LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $function$
DECLARE
  v_done bigint[] := p_jobs;
  v_count integer;
BEGIN
  IF current_setting('holdfast.run', true) IS DISTINCT FROM p_mark THEN
    RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = 'This is not the transaction that the runs opened.';
  END IF;
  IF p_delays IS NOT NULL THEN
    PERFORM FROM ${job} j WHERE j.id = ANY (p_jobs) ORDER BY j.id FOR UPDATE;
    FOR i IN 1 .. cardinality(p_jobs) LOOP
      CONTINUE WHEN p_delays[i] IS NULL;
      v_done := array_remove(v_done, p_jobs[i]);
      PERFORM set_config('holdfast.run', p_tokens[i]::text, true);
      PERFORM ${schema.of('repeat_run')}(p_jobs[i], p_tokens[i], p_delays[i], p_outcomes[i]);
    END LOOP;
  END IF;
  UPDATE ${job} j
    SET state = 2, finished_at = clock_timestamp(), outcome = p_outcomes[array_position(p_jobs, j.id)], suspect = false, losses = 0,
      deferred_since = NULL, error_code = NULL, lease_token = NULL, lease_owner = NULL, lease_until = NULL
    WHERE j.id = ANY (v_done) AND j.lease_token = p_tokens[array_position(p_jobs, j.id)];
  GET DIAGNOSTICS v_count = ROW_COUNT;
  IF v_count <> cardinality(v_done) THEN
    RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'A lease is lost.';
  END IF;
END
$function$`,
    `COMMENT ON FUNCTION ${schema.of('complete_group')}(${ARGUMENTS}) IS 'Holdfast: the fenced completion of several runs in one transaction; raises HF001 when the lease of one is lost.'`,
  ];
}

export function dropCompleteGroup(schema: SchemaName): string[] {
  return [`DROP FUNCTION ${schema.of('complete_group')}(${ARGUMENTS})`];
}
