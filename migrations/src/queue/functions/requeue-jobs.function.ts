import type { SchemaName } from '@holdfast/kernel';
import { LOCATED, locateJob } from './job-by-id.js';
import { keyLock, PINNED_PLANS } from './key-lock.js';

/**
 * requeueJobs makes `requeue_jobs`: jobs that were refused, dead or cancelled are PENDING again, due now, with all their attempts (A1).
 *
 * A job with a key becomes live again only under the lock of its key, as every job that an enqueue or an intake makes, and with a look for a live one
 * that comes after the lock: two live jobs of a key cannot come about, and no enqueue meets the unique index (Q4). Locks of keys are tried and locked rows are
 * skipped: nobody is waited for, so that no two batches can wait for each other crosswise (K132); what was held by somebody is answered as busy, and asked
 * for again once nothing is held here. It runs with the rights of its owner: an operator's role needs no right to write a job.
 */
export function requeueJobs(schema: SchemaName): string[] {
  const job = schema.of('job');
  const lock = keyLock(schema, { kind: 'v_kind', tenantId: 'v_tenant', dedupeKey: 'v_key' });
  return [
    `CREATE FUNCTION ${schema.of('requeue_jobs')}(
  p_ids bigint[], OUT asked_id bigint, OUT job_id bigint, OUT answer text, OUT job_state integer, OUT live_id bigint
) RETURNS SETOF record LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp ${PINNED_PLANS} AS $function$
DECLARE
  ${LOCATED}
BEGIN
  FOR asked_id IN SELECT DISTINCT g.id FROM unnest(p_ids) AS g (id) ORDER BY g.id LOOP
    live_id := NULL;${locateJob(schema, 'asked_id')}
    job_id := v_id;
    job_state := coalesce(v_state, 0);
    IF v_kind IS NULL THEN
      answer := 'not_found';
      job_id := NULL;
    ELSIF job_state < 3 THEN
      answer := 'wrong_state';
    ELSIF v_key IS NOT NULL AND NOT pg_try_advisory_xact_lock(${lock}) THEN
      answer := 'busy';
    ELSE
      SELECT j.state INTO v_state FROM ${job} j WHERE j.id = v_id FOR UPDATE SKIP LOCKED;
      IF NOT FOUND THEN
        answer := 'busy';
      ELSIF v_state < 3 THEN
        answer := 'wrong_state';
        job_state := v_state;
      ELSE
        SELECT j.id INTO live_id FROM ${job} j
          WHERE v_key IS NOT NULL AND j.kind = v_kind AND coalesce(j.tenant_id, '') = coalesce(v_tenant, '') AND j.dedupe_key = v_key
            AND j.state IN (0, 1) AND j.dedupe_key IS NOT NULL;
        IF live_id IS NOT NULL THEN
          answer := 'key_taken';
        ELSE
          UPDATE ${job} j
            SET state = 0, attempt = 0, due_at = clock_timestamp(), finished_at = NULL, suspect = false, losses = 0, deferred_since = NULL,
              outcome = NULL, error_code = NULL, refusal = NULL
            WHERE j.id = v_id;
          -- A request to cancel was for the life before.
          DELETE FROM ${schema.of('job_cancel')} c WHERE c.job_id = v_id;
          answer := 'requeued';
          job_state := 0;
        END IF;
      END IF;
    END IF;
    RETURN NEXT;
  END LOOP;
END
$function$`,
    `COMMENT ON FUNCTION ${schema.of('requeue_jobs')}(bigint[]) IS 'Holdfast: jobs that were refused, dead or cancelled are pending again; waits for nobody.'`,
  ];
}

export function dropRequeueJobs(schema: SchemaName): string[] {
  return [`DROP FUNCTION ${schema.of('requeue_jobs')}(bigint[])`];
}
