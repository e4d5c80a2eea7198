import type { SchemaName } from '@holdfast/kernel';
import { asked, type Cancelling, heldRun } from './held-run.js';
import { keyLock, PINNED_PLANS } from './key-lock.js';

const MAX_BATCH = 250;
/** Each key of a batch takes a slot of the server's lock table, which all sessions share, until the intake ends. */
const MAX_KEYS = 200;

/**
 * intakeRequests makes `intake_requests`: one intake, in one round trip and one short transaction (Q7).
 *
 * 1. The oldest requests whose key's advisory lock is free; those of a held key are walked past. The lock is the right to the key's
 *    requests and to make its job: enqueuers and other intakes try it and never wait for it. Whoever commits late is met by a later intake,
 *    because no mark is kept of how far an intake has come.
 * 2. Their pending jobs are locked, so that no claim takes one away meanwhile; one that is locked already is left for the next intake.
 *    Running jobs are not locked: to wait for a run that ends in this moment does no harm, the next intake finds it ended.
 * 3. With a snapshot taken after the locks: no live job → the job, under the id of the key's oldest request; pending → the earlier moment wins,
 *    unless it waits out a retry or a deferral; running → satisfied by that run, or waiting for its end, folded into one row per run.
 *
 * With `cancels` a job that was asked to be cancelled satisfies and takes in nobody any more: while it is still pending, its requests are left for the
 * next intake, which finds it ended (R16).
 */
export function intakeRequests(schema: SchemaName, { cancels }: Cancelling = {}): string[] {
  const job = schema.of('job');
  const request = schema.of('job_request');
  const lock = keyLock(schema, { kind: 'r.kind', tenantId: 'r.tenant_id', dedupeKey: 'r.dedupe_key' });
  const live = (row: string) =>
    `j.kind = ${row}.kind AND coalesce(j.tenant_id, '') = coalesce(${row}.tenant_id, '') AND j.dedupe_key = ${row}.dedupe_key
      AND j.state IN (0, 1) AND j.dedupe_key IS NOT NULL`;
  const keys = `(SELECT DISTINCT r.kind, r.tenant_id, r.dedupe_key FROM ${request} r WHERE r.id = ANY (v_ids)) k`;
  return [
    `CREATE FUNCTION ${schema.of('intake_requests')}(
  p_limit integer, OUT created integer, OUT merged integer, OUT waiting integer, OUT skipped integer, OUT more boolean
) LANGUAGE plpgsql VOLATILE ${PINNED_PLANS} AS $function$
DECLARE
  v_batch constant integer := least(greatest(p_limit, 1), ${MAX_BATCH});
  v_ids bigint[] := '{}';
  v_keys integer := 0;
  v_locks bigint[] := '{}';
  v_row record;
  v_pending bigint[];
  v_gone bigint[];
  v_pull_job bigint[];
  v_pull_due timestamptz[];
  v_pull_payload bigint[];
  v_wait_id bigint[];
  v_wait_job bigint[];
  v_wait_token uuid[];
  v_wait_due timestamptz[];
  v_wait_payload bigint[];
  v_wait_named boolean[];
BEGIN
  created := 0; merged := 0; waiting := 0; skipped := 0; more := false;

  -- 1. Those whose run has ended, then the oldest. The lock is tried row by row, and on no more rows than it takes to fill the batch.
  FOR v_row IN
    SELECT r.id, ${lock} AS lock FROM ${request} r
      WHERE r.waits_for IS NOT NULL
        AND NOT EXISTS (SELECT FROM ${job} j WHERE j.id = r.waits_for AND j.state = 1 AND j.lease_token = r.waits_token)
    UNION ALL
    (SELECT r.id, ${lock} AS lock FROM ${request} r WHERE r.waits_for IS NULL ORDER BY r.id)
  LOOP
    IF v_row.lock IS DISTINCT FROM v_locks[v_keys] AND NOT v_row.lock = ANY (v_locks) THEN
      IF v_keys >= ${MAX_KEYS} THEN
        more := true;
        EXIT;
      END IF;
      CONTINUE WHEN NOT pg_try_advisory_xact_lock(v_row.lock);
      v_keys := v_keys + 1;
      v_locks[v_keys] := v_row.lock;
    END IF;
    v_ids := v_ids || v_row.id;
    IF cardinality(v_ids) >= v_batch THEN
      more := true;
      EXIT;
    END IF;
  END LOOP;
  IF v_keys = 0 THEN
    RETURN;
  END IF;

  -- 2. The pending jobs, and the rows that already wait for a running one.
  SELECT coalesce(array_agg(l.id), '{}') INTO v_pending FROM ${keys}
    CROSS JOIN LATERAL (
      SELECT j.id FROM ${job} j WHERE ${live('k')} AND j.state = 0 LIMIT 1 FOR UPDATE SKIP LOCKED
    ) l;
  v_ids := v_ids || ARRAY(
    SELECT w.id FROM ${keys}
      CROSS JOIN LATERAL (SELECT j.id FROM ${job} j WHERE ${live('k')} AND j.state = 1 LIMIT 1) l
      CROSS JOIN LATERAL (SELECT r.id FROM ${request} r WHERE r.waits_for = l.id OFFSET 0) w
  );

  -- 3. The fate of each request; per key and fate, the oldest stands for the others.
  WITH fate AS MATERIALIZED (
    SELECT r.id, r.kind, r.tenant_id, r.dedupe_key, r.priority, r.due_at, r.max_attempts, r.replace_payload, r.named_job, r.waits_token,
        r.created_at, l.id AS job_id, l.lease_token, l.due_at AS job_due_at, l.waits_out,
        CASE
          WHEN l.id IS NULL THEN 'create'
          WHEN l.state = 0 AND l.id = ANY (v_pending)${cancels ? ' AND NOT l.asked' : ''} THEN 'join'
          WHEN l.state = 0 THEN 'skip'
          WHEN r.seen_token = l.lease_token AND NOT r.rerun AND NOT l.held THEN 'drop'
          -- That run began after the one whose end it waited for, and so after its commit.
          WHEN r.waits_for = l.id AND r.waits_token <> l.lease_token AND NOT r.replace_payload${cancels ? ' AND NOT l.asked' : ''} THEN 'drop'
          ELSE 'wait'
        END AS fate
      FROM ${request} r LEFT JOIN LATERAL (
        SELECT j.id, j.state, j.lease_token, j.due_at, j.attempt > 0 OR j.deferred_since IS NOT NULL AS waits_out,
            ${heldRun(schema, { cancels })} AS held${
              cancels
                ? `,
            ${asked(schema)} AS asked`
                : ''
            }
          FROM ${job} j WHERE ${live('r')} LIMIT 1
      ) l ON true
      WHERE r.id = ANY (v_ids)
  ), grouped AS MATERIALIZED (
    SELECT f.*, min(f.id) OVER w AS head, min(f.due_at) OVER w AS due, max(f.id) FILTER (WHERE f.replace_payload) OVER w AS replaced_by,
        bool_or(f.named_job IS NULL) OVER w AS names_itself, count(*) OVER w AS size
      FROM fate f WINDOW w AS (PARTITION BY f.kind, f.tenant_id, f.dedupe_key, f.fate)
  ), made AS (
    INSERT INTO ${job} (id, kind, tenant_id, dedupe_key, priority, due_at, max_attempts, payload, payload_version, created_at)
      SELECT g.id, g.kind, g.tenant_id, g.dedupe_key, g.priority, g.due, g.max_attempts,
          (SELECT p.payload FROM ${request} p WHERE p.id = coalesce(g.replaced_by, g.id)),
          (SELECT p.payload_version FROM ${request} p WHERE p.id = coalesce(g.replaced_by, g.id)), g.created_at
        FROM grouped g WHERE g.fate = 'create' AND g.id = g.head
  ), aliased AS (
    INSERT INTO ${schema.of('job_alias')} (request_id, job_id)
      SELECT g.id, CASE WHEN g.fate IN ('join', 'drop') THEN g.job_id ELSE g.head END
        FROM grouped g WHERE g.named_job IS NULL AND (g.fate IN ('join', 'drop') OR g.fate IN ('create', 'wait') AND g.id <> g.head)
  )
  SELECT count(*) FILTER (WHERE g.fate = 'create' AND g.id = g.head),
      count(*) FILTER (WHERE g.fate IN ('join', 'drop') OR g.fate = 'create' AND g.id <> g.head),
      count(*) FILTER (WHERE g.fate = 'wait' AND g.waits_token IS DISTINCT FROM g.lease_token),
      count(*) FILTER (WHERE g.fate = 'skip'),
      array_agg(g.id) FILTER (WHERE g.fate IN ('create', 'join', 'drop') OR g.fate = 'wait' AND g.id <> g.head),
      array_agg(g.job_id) FILTER (WHERE g.pulls), array_agg(g.due) FILTER (WHERE g.pulls),
      array_agg(g.replaced_by) FILTER (WHERE g.pulls),
      array_agg(g.id) FILTER (WHERE g.folds), array_agg(g.job_id) FILTER (WHERE g.folds),
      array_agg(g.lease_token) FILTER (WHERE g.folds), array_agg(g.due) FILTER (WHERE g.folds),
      array_agg(g.replaced_by) FILTER (WHERE g.folds), array_agg(g.names_itself) FILTER (WHERE g.folds)
    INTO created, merged, waiting, skipped, v_gone, v_pull_job, v_pull_due, v_pull_payload,
      v_wait_id, v_wait_job, v_wait_token, v_wait_due, v_wait_payload, v_wait_named
    FROM (
      SELECT g.*,
          g.fate = 'join' AND g.id = g.head AND (g.replaced_by IS NOT NULL OR NOT g.waits_out AND g.due < g.job_due_at) AS pulls,
          g.fate = 'wait' AND g.id = g.head AND (g.size > 1 OR g.waits_token IS DISTINCT FROM g.lease_token) AS folds
        FROM grouped g
    ) g;

  -- Row by row, because an update that is joined with its values may be planned to read the whole table; few jobs are pulled forward.
  FOR i IN 1 .. coalesce(cardinality(v_pull_job), 0) LOOP
    UPDATE ${job} j
      SET due_at = CASE WHEN j.attempt > 0 OR j.deferred_since IS NOT NULL THEN j.due_at ELSE least(j.due_at, v_pull_due[i]) END,
        payload = coalesce((SELECT p.payload FROM ${request} p WHERE p.id = v_pull_payload[i]), j.payload),
        payload_version = coalesce((SELECT p.payload_version FROM ${request} p WHERE p.id = v_pull_payload[i]), j.payload_version)
      WHERE j.id = v_pull_job[i] AND j.state = 0;
  END LOOP;
  FOR i IN 1 .. coalesce(cardinality(v_wait_id), 0) LOOP
    UPDATE ${request} r
      SET waits_for = v_wait_job[i], waits_token = v_wait_token[i], seen_token = NULL, due_at = v_wait_due[i],
        named_job = CASE WHEN NOT v_wait_named[i] THEN r.named_job END,
        replace_payload = v_wait_payload[i] IS NOT NULL,
        payload = coalesce((SELECT p.payload FROM ${request} p WHERE p.id = v_wait_payload[i]), r.payload),
        payload_version = coalesce((SELECT p.payload_version FROM ${request} p WHERE p.id = v_wait_payload[i]), r.payload_version)
      WHERE r.id = v_wait_id[i];
  END LOOP;
  DELETE FROM ${request} r WHERE r.id = ANY (v_gone);
  -- A full batch of which nothing could be done is no reason to come back at once.
  more := more AND skipped < cardinality(v_ids);
END
$function$`,
    `COMMENT ON FUNCTION ${schema.of('intake_requests')}(integer) IS 'Holdfast: turns committed requests into jobs, or joins them to live ones.'`,
  ];
}

export function dropIntakeRequests(schema: SchemaName): string[] {
  return [`DROP FUNCTION ${schema.of('intake_requests')}(integer)`];
}
