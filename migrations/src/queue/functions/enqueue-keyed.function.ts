import type { SchemaName } from '@holdfast/kernel';
import { type Cancelling, heldRun } from './held-run.js';
import { keyLock } from './key-lock.js';

/** The key locks of one transaction: thousands of keyed enqueues in one must not use up the server's lock table. */
const LOCKS_PER_TRANSACTION = 16;

const ARGUMENTS = 'text, text, text, smallint, timestamptz, integer, json, smallint, boolean, boolean';

/**
 * enqueueKeyed makes `enqueue_keyed`: one request with a key, in the caller's transaction, without ever waiting for another (Q4, Q7).
 *
 * At its core it appends a row to job_request, which conflicts with nothing. READ COMMITTED knows two short cuts: a run that satisfies the
 * request is answered and nothing is written (Q6), and where no live job is to be seen and the key's advisory lock is free, the job itself is
 * inserted: intake, and every other such insert, needs that lock. REPEATABLE READ may see an old state, so it always appends and says which
 * run it saw. SERIALIZABLE reads no table at all: a read could give the caller a serialization failure.
 *
 * It runs with the rights of its owner, so that a role that may enqueue needs no right to read a job. With `cancels` a run that was asked to be
 * cancelled satisfies nobody any more.
 */
export function enqueueKeyed(schema: SchemaName, { cancels }: Cancelling = {}): string[] {
  const lock = keyLock(schema, { kind: 'p_kind', tenantId: 'p_tenant_id', dedupeKey: 'p_dedupe_key' });
  return [
    `CREATE FUNCTION ${schema.of('enqueue_keyed')}(
  p_kind text, p_tenant_id text, p_dedupe_key text, p_priority smallint, p_due_at timestamptz, p_max_attempts integer,
  p_payload json, p_payload_version smallint, p_rerun boolean, p_replace_payload boolean,
  OUT id bigint, OUT disposition text, OUT payload_differs boolean
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $function$
DECLARE
  v_isolation text := current_setting('transaction_isolation');
  v_live record;
  v_locked boolean := false;
  v_locks integer;
  v_named bigint;
  v_seen uuid;
BEGIN
  payload_differs := false;
  WHILE v_isolation <> 'serializable' LOOP
    SELECT j.id, j.state, j.lease_token, j.payload::text <> p_payload::text AS differs,
        ${heldRun(schema, { cancels })} AS held
      INTO v_live
      FROM ${schema.of('job')} j
      WHERE j.kind = p_kind AND coalesce(j.tenant_id, '') = coalesce(p_tenant_id, '') AND j.dedupe_key = p_dedupe_key
        AND j.state IN (0, 1) AND j.dedupe_key IS NOT NULL;
    IF FOUND THEN
      v_named := v_live.id;
      payload_differs := v_live.differs;
      IF v_live.state = 1 AND NOT p_rerun AND NOT v_live.held THEN
        IF v_isolation <> 'repeatable read' THEN
          id := v_live.id;
          disposition := 'existing';
          RETURN;
        END IF;
        v_seen := v_live.lease_token;
      END IF;
      EXIT;
    END IF;
    IF v_locked THEN
      -- Whoever makes a job live again by hand takes no key lock: such a conflict is no error of the caller's, its request is appended.
      INSERT INTO ${schema.of('job')} AS j
          (kind, tenant_id, dedupe_key, priority, due_at, max_attempts, payload, payload_version)
        VALUES (p_kind, p_tenant_id, p_dedupe_key, p_priority, coalesce(p_due_at, clock_timestamp()), p_max_attempts, p_payload,
          p_payload_version)
        ON CONFLICT DO NOTHING
        RETURNING j.id INTO id;
      EXIT WHEN NOT FOUND;
      disposition := 'created';
      RETURN;
    END IF;
    EXIT WHEN v_isolation = 'repeatable read';
    v_locks := coalesce(nullif(current_setting('holdfast.key_locks', true), ''), '0');
    EXIT WHEN v_locks >= ${LOCKS_PER_TRANSACTION};
    v_locked := pg_try_advisory_xact_lock(${lock});
    EXIT WHEN NOT v_locked;
    PERFORM set_config('holdfast.key_locks', (v_locks + 1)::text, true);
    -- Look again: what was committed before the lock was free is seen only by a look that comes after it.
  END LOOP;
  INSERT INTO ${schema.of('job_request')} AS r
      (kind, tenant_id, dedupe_key, priority, due_at, max_attempts, payload, payload_version, rerun, replace_payload, seen_token, named_job)
    VALUES (p_kind, p_tenant_id, p_dedupe_key, p_priority, coalesce(p_due_at, clock_timestamp()), p_max_attempts, p_payload,
      p_payload_version, p_rerun, p_replace_payload, v_seen, v_named)
    RETURNING coalesce(r.named_job, r.id) INTO id;
  disposition := CASE WHEN v_named IS NULL THEN 'requested' ELSE 'existing' END;
END
$function$`,
    `COMMENT ON FUNCTION ${schema.of('enqueue_keyed')}(${ARGUMENTS}) IS 'Holdfast: one request with a dedupe key; never waits for another transaction.'`,
  ];
}

export function dropEnqueueKeyed(schema: SchemaName): string[] {
  return [`DROP FUNCTION ${schema.of('enqueue_keyed')}(${ARGUMENTS})`];
}
