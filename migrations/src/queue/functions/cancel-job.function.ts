import type { SchemaName } from '@holdfast/kernel';
import { followUps } from './follow-up.js';
import { keyLock, PINNED_PLANS } from './key-lock.js';

const ARGUMENTS = 'bigint, boolean, text';

/**
 * cancelJob makes `cancel_job`: a pending job, or a request that is no job yet, ends as CANCELLED at once; for a running one a row of `job_cancel` asks
 * whoever runs it (R16). Its row is neither written nor locked.
 *
 * The id is a job's, or one that an enqueue answered. Who waits for what: of a job with a key, and of a request, the lock of the key, which intake and
 * enqueuers try and nobody waits for, then the pending job's row. Nothing else is held meanwhile, and `lock_timeout` bounds both waits (55P03). With
 * that lock no intake is at work on the key, so the answer is what it would have been had all committed requests been taken in before: those that would
 * have joined the job, or the request, go with it; those that wait for a run stay.
 *
 * It runs with the rights of its owner: an operator's role needs no right to write a job.
 */
export function cancelJob(schema: SchemaName, { endings = false } = {}): string[] {
  return [
    `CREATE FUNCTION ${schema.of('cancel_job')}(
  p_id bigint, p_of_tenant boolean, p_tenant_id text, OUT answer text, OUT found_id bigint, OUT found_state integer
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp ${PINNED_PLANS} SET lock_timeout = '2s' AS $function$
${body(schema, endings)}
$function$`,
    `COMMENT ON FUNCTION ${schema.of('cancel_job')}(${ARGUMENTS}) IS 'Holdfast: cancels a pending job, or asks whoever runs it to end it.'`,
  ];
}

export function dropCancelJob(schema: SchemaName): string[] {
  return [`DROP FUNCTION ${schema.of('cancel_job')}(${ARGUMENTS})`];
}

function body(schema: SchemaName, endings: boolean): string {
  const job = schema.of('job');
  const request = schema.of('job_request');
  const lock = keyLock(schema, {
    kind: 'v_found.kind',
    tenantId: 'v_found.tenant_id',
    dedupeKey: 'v_found.dedupe_key',
  });
  const sameKey = (row: string) =>
    `${row}.kind = v_found.kind AND coalesce(${row}.tenant_id, '') = coalesce(v_found.tenant_id, '') AND ${row}.dedupe_key = v_found.dedupe_key`;
  return `DECLARE
  v_found record;
  v_live record;
  v_locked bigint;
BEGIN
  FOR i IN 1 .. 20 LOOP
    found_id := NULL; found_state := NULL;
${lookUp(schema)}
    IF NOT FOUND OR p_of_tenant AND v_found.tenant_id IS DISTINCT FROM p_tenant_id THEN
      answer := 'not_found';
      RETURN;
    END IF;
    found_id := v_found.id; found_state := v_found.state;
    IF found_state = 1 THEN
      INSERT INTO ${schema.of('job_cancel')} (job_id) VALUES (found_id) ON CONFLICT DO NOTHING;
      answer := 'requested';
      RETURN;
    ELSIF found_state > 1 THEN
      answer := 'final';
      RETURN;
    END IF;
    IF v_found.dedupe_key IS NOT NULL AND v_locked IS DISTINCT FROM ${lock} THEN
      v_locked := ${lock};
      PERFORM pg_advisory_xact_lock(v_locked);
      -- Look again: what was committed before the lock was free is seen only by a look that comes after it.
      CONTINUE;
    END IF;

    SELECT j.id, j.state, j.lease_token INTO v_live FROM ${job} j
      WHERE ${sameKey('j')} AND j.state IN (0, 1) AND j.dedupe_key IS NOT NULL;
    IF found_state = 0 OR v_live.state = 0 THEN
      found_id := coalesce(v_live.id, found_id); found_state := 5;
      UPDATE ${job} j
        SET state = 5, finished_at = clock_timestamp(), suspect = false, losses = 0, deferred_since = NULL
        WHERE j.id = found_id AND j.state = 0;
    ELSE
      found_state := 5;
      INSERT INTO ${job}
          (id, kind, tenant_id, dedupe_key, priority, due_at, max_attempts, payload, payload_version, created_at, state, finished_at)
        SELECT r.id, r.kind, r.tenant_id, r.dedupe_key, r.priority, r.due_at, r.max_attempts, r.payload, r.payload_version, r.created_at, 5,
            clock_timestamp()
          FROM ${request} r WHERE r.id = found_id;
    END IF;
    -- A claim took it away meanwhile: then it runs.
    CONTINUE WHEN NOT FOUND;
    -- What is satisfied by a run that goes on is left for intake, which knows how.
    WITH gone AS (
      DELETE FROM ${request} r
        WHERE ${sameKey('r')}
          AND (v_live.state IS DISTINCT FROM 1 OR r.id = found_id OR r.rerun OR r.seen_token IS DISTINCT FROM v_live.lease_token)
        RETURNING r.id, r.named_job
    )
    INSERT INTO ${schema.of('job_alias')} (request_id, job_id)
      SELECT g.id, found_id FROM gone g WHERE g.named_job IS NULL AND g.id <> found_id;
${endings ? `    ${followUps(schema, `(SELECT * FROM ${job} j WHERE j.id = found_id) s`)};\n` : ''}    answer := 'cancelled';
    RETURN;
  END LOOP;
  RAISE EXCEPTION USING ERRCODE = 'lock_not_available', MESSAGE = 'The job changed whenever it was looked at.';
END`;
}

/** A request that was taken in leads on to the job it joined; one snapshot for all of it, so that an intake in between loses nobody. */
function lookUp(schema: SchemaName): string {
  return `    WITH RECURSIVE named (id) AS (
      SELECT p_id
      UNION
      SELECT a.job_id FROM named n CROSS JOIN LATERAL (SELECT a.job_id FROM ${schema.of('job_alias')} a WHERE a.request_id = n.id OFFSET 0) a
    )
    SELECT f.* INTO v_found FROM (
      SELECT j.id, j.state::integer AS state, j.kind, j.tenant_id, j.dedupe_key
        FROM ${schema.of('job')} j WHERE j.id = ANY (ARRAY(SELECT n.id FROM named n))
      UNION ALL
      SELECT r.id, NULL, r.kind, r.tenant_id, r.dedupe_key
        FROM ${schema.of('job_request')} r WHERE r.id = ANY (ARRAY(SELECT n.id FROM named n))
    ) f LIMIT 1;`;
}
