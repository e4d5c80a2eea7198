import type { SchemaName } from '@holdfast/kernel';
import { LOCATED, locateJob } from './job-by-id.js';
import { keyLock, PINNED_PLANS } from './key-lock.js';

/** DeleteJobs say how the function is made; later migrations make it again with the narrow tables that they have added. */
export interface DeleteJobs {
  readonly create?: 'CREATE' | 'CREATE OR REPLACE';
  /** runTables hold what runs leave beside their job's row. */
  readonly runTables?: readonly string[];
}

const RUN_TABLES: readonly string[] = ['job_cancel', 'job_hold', 'job_renewal'];
const ARGUMENTS = 'bigint[], smallint[], timestamptz';

/**
 * deleteJobs makes `delete_jobs`: jobs in one of the given states are gone, with the ids that led to them and the narrow rows of their runs (A1).
 *
 * State and moment are looked at again on the locked row: one that was requeued meanwhile stays. A running job is never among them. A request that is no job yet
 * counts as pending, and is taken under the lock of its key, which intake tries. Locks are tried and locked rows are skipped: nobody is waited for. Requests that are
 * not taken in yet are not touched: they make a job of their own. It runs with the rights of its owner.
 */
export function deleteJobs(
  schema: SchemaName,
  { create = 'CREATE', runTables = RUN_TABLES }: DeleteJobs = {},
): string[] {
  const alias = schema.of('job_alias');
  const job = schema.of('job');
  const request = schema.of('job_request');
  const lock = keyLock(schema, { kind: 'v_kind', tenantId: 'v_tenant', dedupeKey: 'v_key' });
  return [
    `${create} FUNCTION ${schema.of('delete_jobs')}(
  p_ids bigint[], p_states smallint[], p_finished_before timestamptz, OUT asked_id bigint, OUT job_id bigint, OUT answer text, OUT job_state integer
) RETURNS SETOF record LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp ${PINNED_PLANS} AS $function$
DECLARE
  ${LOCATED}
  v_finished timestamptz;
  v_gone bigint[] := '{}';
BEGIN
  FOR asked_id IN SELECT DISTINCT g.id FROM unnest(p_ids) AS g (id) ORDER BY g.id LOOP${locateJob(schema, 'asked_id')}
    job_id := v_id;
    job_state := coalesce(v_state, 0);
    answer := 'busy';
    IF v_kind IS NULL THEN
      answer := 'not_found';
      job_id := NULL;
    ELSIF job_state = 1 OR NOT job_state = ANY (p_states) THEN
      answer := 'wrong_state';
    ELSIF v_state IS NULL THEN
      IF pg_try_advisory_xact_lock(${lock}) THEN
        DELETE FROM ${request} r WHERE r.id = v_id;
        IF FOUND THEN
          answer := 'deleted';
        END IF;
      END IF;
    ELSE
      SELECT j.state, j.finished_at INTO v_state, v_finished FROM ${job} j WHERE j.id = v_id FOR UPDATE SKIP LOCKED;
      IF FOUND THEN
        job_state := v_state;
        IF v_state = 1 OR NOT v_state = ANY (p_states) OR v_finished >= p_finished_before THEN
          answer := 'wrong_state';
        ELSE
          DELETE FROM ${job} j WHERE j.id = v_id;
          answer := 'deleted';
        END IF;
      END IF;
    END IF;
    IF answer = 'deleted' THEN
      v_gone := v_gone || v_id;
    END IF;
    RETURN NEXT;
  END LOOP;
  IF cardinality(v_gone) = 0 THEN
    RETURN;
  END IF;
  DELETE FROM ${alias} d WHERE d.request_id = ANY (ARRAY(
    WITH RECURSIVE led (id) AS (
      SELECT a.request_id FROM unnest(v_gone) AS g (id) CROSS JOIN LATERAL (SELECT a.request_id FROM ${alias} a WHERE a.job_id = g.id OFFSET 0) a
      UNION
      SELECT a.request_id FROM led l CROSS JOIN LATERAL (SELECT a.request_id FROM ${alias} a WHERE a.job_id = l.id OFFSET 0) a
    )
    SELECT l.id FROM led l
  ));
${runTables.map((table) => `  DELETE FROM ${schema.of(table)} n WHERE n.job_id = ANY (v_gone);\n`).join('')}END
$function$`,
    `COMMENT ON FUNCTION ${schema.of('delete_jobs')}(${ARGUMENTS}) IS 'Holdfast: removes pending and final jobs with what belongs to them; waits for nobody.'`,
  ];
}

export function dropDeleteJobs(schema: SchemaName): string[] {
  return [`DROP FUNCTION ${schema.of('delete_jobs')}(${ARGUMENTS})`];
}
