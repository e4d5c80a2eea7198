import type { SchemaName } from '@holdfast/kernel';
import { LOCATED, locateJob } from './job-by-id.js';
import { keyLock, PINNED_PLANS } from './key-lock.js';

/**
 * runJobNow makes `run_job_now`: a pending job, or a request that is no job yet, is due now (A1).
 *
 * Its attempts, and the outage that it waits out, stay as they are. A request is changed under the lock of its key, which intake tries, so that
 * none that is being taken in keeps its old moment. Locks are tried and a locked row is skipped: nobody is waited for. It runs with the rights of its owner.
 */
export function runJobNow(schema: SchemaName): string[] {
  const job = schema.of('job');
  const request = schema.of('job_request');
  const lock = keyLock(schema, { kind: 'v_kind', tenantId: 'v_tenant', dedupeKey: 'v_key' });
  return [
    `CREATE FUNCTION ${schema.of('run_job_now')}(p_id bigint, OUT job_id bigint, OUT answer text, OUT job_state integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp ${PINNED_PLANS} AS $function$
DECLARE
  ${LOCATED}
BEGIN${locateJob(schema, 'p_id')}
  job_id := v_id;
  job_state := coalesce(v_state, 0);
  answer := 'busy';
  IF v_kind IS NULL THEN
    answer := 'not_found';
    job_id := NULL;
  ELSIF job_state > 0 THEN
    answer := 'wrong_state';
  ELSIF v_state IS NULL THEN
    IF pg_try_advisory_xact_lock(${lock}) THEN
      UPDATE ${request} r SET due_at = least(r.due_at, clock_timestamp()) WHERE r.id = v_id;
      IF FOUND THEN
        answer := 'due';
      END IF;
    END IF;
  ELSE
    SELECT j.state INTO v_state FROM ${job} j WHERE j.id = v_id FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
      job_state := v_state;
      answer := CASE WHEN v_state = 0 THEN 'due' ELSE 'wrong_state' END;
      UPDATE ${job} j SET due_at = clock_timestamp() WHERE j.id = v_id AND j.state = 0 AND j.due_at > clock_timestamp();
    END IF;
  END IF;
END
$function$`,
    `COMMENT ON FUNCTION ${schema.of('run_job_now')}(bigint) IS 'Holdfast: a pending job is due now; waits for nobody.'`,
  ];
}

export function dropRunJobNow(schema: SchemaName): string[] {
  return [`DROP FUNCTION ${schema.of('run_job_now')}(bigint)`];
}
