import type { SchemaName } from '@holdfast/kernel';

const COMPLETE = 'bigint, uuid, text';
const REPEAT = 'bigint, uuid, bigint, text';
/** Ten years: a delay beyond it, or below zero, cannot make a timestamp out of range. */
const MAX_DELAY_MS = 315_360_000_000;

/**
 * settleRun makes `complete_run` and `repeat_run`: the fenced completion that is sent together with COMMIT (R2).
 *
 * It raises where it fences nothing, because a statement that merely changes no row would let COMMIT commit: HF001 when the lease is lost, HF002
 * when the transaction is not the one that the run opened (the handler ended that one and began another). The token is there only while RUNNING. A function, because its
 * plan is kept by the session: the same statement sent as text is parsed and planned each time, which costs more than running it.
 */
export function settleRun(schema: SchemaName): string[] {
  const body = (assignments: string) => `
BEGIN
  IF current_setting('holdfast.run', true) IS DISTINCT FROM p_token::text THEN
    RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = 'This is not the transaction that the run opened.';
  END IF;
  UPDATE ${schema.of('job')}
    SET ${assignments}, outcome = p_outcome, suspect = false, losses = 0, deferred_since = NULL, error_code = NULL,
      lease_token = NULL, lease_owner = NULL, lease_until = NULL
    WHERE id = p_job AND lease_token = p_token;
  IF NOT FOUND THEN
    RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'The lease is lost.';
  END IF;
END
`;
  const delay = `least(greatest(p_delay_ms, 0), ${MAX_DELAY_MS}) * interval '1 millisecond'`;
  return [
    `CREATE FUNCTION ${schema.of('complete_run')}(p_job bigint, p_token uuid, p_outcome text)
RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $function$${body('state = 2, finished_at = clock_timestamp()')}$function$`,
    `CREATE FUNCTION ${schema.of('repeat_run')}(p_job bigint, p_token uuid, p_delay_ms bigint, p_outcome text)
RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $function$${body(
      `state = 0, attempt = 0, failures = NULL, due_at = clock_timestamp() + ${delay}`,
    )}$function$`,
    `COMMENT ON FUNCTION ${schema.of('complete_run')}(${COMPLETE}) IS 'Holdfast: the fenced completion of a run; raises HF001 when its lease is lost.'`,
    `COMMENT ON FUNCTION ${schema.of('repeat_run')}(${REPEAT}) IS 'Holdfast: the fenced repetition of a run; raises HF001 when its lease is lost.'`,
  ];
}

export function dropSettleRun(schema: SchemaName): string[] {
  return [
    `DROP FUNCTION ${schema.of('repeat_run')}(${REPEAT})`,
    `DROP FUNCTION ${schema.of('complete_run')}(${COMPLETE})`,
  ];
}
