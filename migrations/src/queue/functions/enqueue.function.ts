import type { SchemaName } from '@holdfast/kernel';

const ARGUMENTS = 'text, anycompatible, text, timestamptz, integer, text, integer, text, integer, boolean';
/** The limits of a request from code; the payload's is the default of the option payloadLimitBytes. */
const PAYLOAD_LIMIT_BYTES = 262_144;
const MAX_PAYLOAD_DEPTH = 100;

/** The SQLSTATEs of a refusal; the message begins with the code that a refusal in code carries. */
const REQUEST = `ERRCODE = 'HF010', MESSAGE = format('queue.request_refused: A job of kind %s cannot be enqueued: %s.', v_name, v_reason)`;
const PAYLOAD = `ERRCODE = 'HF011', MESSAGE = format('queue.payload_refused: The payload of %s cannot be enqueued: %s.', v_name, v_reason)`;
const TOO_LARGE = `ERRCODE = 'HF012',
      MESSAGE = format('queue.payload_too_large: The payload of %s is over ${PAYLOAD_LIMIT_BYTES} bytes as JSON.', v_name),
      HINT = 'Store the data and enqueue its id.'`;

/**
 * enqueue makes `enqueue`: one request in the caller's transaction, for psql, triggers and other languages, by the rules of a request from code but
 * for the definition's schema, which SQL does not know (Q9).
 *
 * It runs with the rights of its owner and checks before it writes, so that the right to execute it is all a role needs, and lets it write nothing
 * that code could not have written. Its payload is text, json or jsonb as the caller has it, and the type is looked at before anything is made of
 * the value: a cast of a type of the caller's own would run the caller's code with the owner's rights. No text in its body has a backslash, whose
 * meaning depends on a setting of the session.
 */
export function enqueue(schema: SchemaName): string[] {
  return [
    `CREATE FUNCTION ${schema.of('enqueue')}(
  kind text, payload anycompatible, dedupe_key text DEFAULT NULL, due_at timestamptz DEFAULT NULL, priority integer DEFAULT 5,
  tenant text DEFAULT NULL, max_attempts integer DEFAULT 8, when_running text DEFAULT 'merge', payload_version integer DEFAULT 1,
  replace_payload boolean DEFAULT false, OUT id bigint, OUT disposition text, OUT payload_differs boolean
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$
#variable_conflict error
DECLARE
  v_attempts integer := coalesce(enqueue.max_attempts, 8);
  v_name text := coalesce(left(enqueue.kind, 100), 'NULL');
  v_priority integer := coalesce(enqueue.priority, 5);
  v_reason text;
  v_text text;
  v_version integer := coalesce(enqueue.payload_version, 1);
  v_when text := coalesce(enqueue.when_running, 'merge');
BEGIN
  v_reason := CASE
    WHEN enqueue.kind IS NULL OR length(enqueue.kind) > 100 OR enqueue.kind COLLATE "C" !~ '^[a-z][a-z0-9_]*([.][a-z0-9_]+)*$'
      THEN 'the kind is not made of lower-case words joined by dots, at most 100 characters'
    WHEN octet_length(enqueue.dedupe_key) = 0 THEN 'dedupe_key is empty'
    WHEN octet_length(enqueue.dedupe_key) > 512 THEN 'dedupe_key is over 512 bytes'
    WHEN enqueue.due_at < '1970-01-01 00:00:00+00' OR enqueue.due_at > '9999-12-31 00:00:00+00' THEN
      'due_at must be between the years 1970 and 9999'
    WHEN v_priority NOT BETWEEN 0 AND 9 THEN 'priority must be from 0 (first) to 9 (last)'
    WHEN octet_length(enqueue.tenant) = 0 THEN 'tenant is empty'
    WHEN octet_length(enqueue.tenant) > 200 THEN 'tenant is over 200 bytes'
    WHEN v_attempts NOT BETWEEN 1 AND 100 AND v_attempts <> -1 THEN 'max_attempts must be from 1 to 100, or -1 for no bound'
    WHEN v_when NOT IN ('merge', 'rerun') THEN 'when_running must be merge or rerun'
    WHEN v_version NOT BETWEEN 1 AND 32767 THEN 'payload_version must be from 1 to 32767'
  END;
  IF v_reason IS NOT NULL THEN
    RAISE EXCEPTION USING ${REQUEST};
  END IF;

  IF pg_typeof(enqueue.payload) NOT IN ('text'::regtype, 'varchar'::regtype, 'json'::regtype, 'jsonb'::regtype) THEN
    v_reason := format('payload is of type %s: cast it to json, jsonb or text', pg_typeof(enqueue.payload));
    RAISE EXCEPTION USING ${PAYLOAD};
  END IF;
  v_text := enqueue.payload::text;
  IF octet_length(v_text) > ${PAYLOAD_LIMIT_BYTES} THEN
    RAISE EXCEPTION USING ${TOO_LARGE};
  END IF;
  v_reason := ${schema.of('refused_payload')}(v_text);
  IF v_reason IS NOT NULL THEN
    RAISE EXCEPTION USING ${PAYLOAD};
  END IF;

  IF enqueue.dedupe_key IS NULL THEN
    INSERT INTO ${schema.of('job')} AS j (kind, tenant_id, priority, due_at, max_attempts, payload, payload_version)
      VALUES (enqueue.kind, enqueue.tenant, v_priority::smallint, coalesce(enqueue.due_at, clock_timestamp()), nullif(v_attempts, -1),
        v_text::json, v_version::smallint)
      RETURNING j.id INTO enqueue.id;
    enqueue.disposition := 'created';
    enqueue.payload_differs := false;
    RETURN;
  END IF;
  SELECT e.id, e.disposition, e.payload_differs INTO enqueue.id, enqueue.disposition, enqueue.payload_differs
    FROM ${schema.of('enqueue_keyed')}(enqueue.kind, enqueue.tenant, enqueue.dedupe_key, v_priority::smallint, enqueue.due_at,
      nullif(v_attempts, -1), v_text::json, v_version::smallint, v_when = 'rerun', coalesce(enqueue.replace_payload, false)) e;
END
$function$`,
    `COMMENT ON FUNCTION ${schema.of('enqueue')}(${ARGUMENTS}) IS 'Holdfast: enqueues one job in the transaction of the caller; raises HF010, HF011 or HF012 for a request that is refused.'`,
  ];
}

/**
 * refusedPayload makes `refused_payload`: what keeps a text from being a payload, or null (Q2).
 *
 * A cast to jsonb takes no escape of U+0000 and no lone surrogate, which a cast to json takes. The depth is counted on the text once its strings are
 * gone, and only where there are brackets enough to reach it.
 */
export function refusedPayload(schema: SchemaName): string[] {
  const backslash = 'chr(92)';
  return [
    `CREATE FUNCTION ${schema.of('refused_payload')}(p_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $function$
DECLARE
  v_depth integer := 0;
  v_document jsonb;
  v_mark text;
BEGIN
  IF p_text IS NULL THEN
    RETURN 'payload is null, a payload is an object';
  END IF;
  BEGIN
    v_document := p_text::jsonb;
  EXCEPTION
    WHEN untranslatable_character THEN
      RETURN 'payload contains U+0000';
    WHEN statement_too_complex THEN
      RETURN 'payload is nested more than ${MAX_PAYLOAD_DEPTH} deep';
    WHEN data_exception OR program_limit_exceeded THEN
      BEGIN
        PERFORM p_text::json;
      EXCEPTION WHEN data_exception THEN
        RETURN 'payload is no JSON';
      END;
      RETURN 'payload contains a lone surrogate, or a number that is out of range';
  END;
  IF jsonb_typeof(v_document) <> 'object' THEN
    RETURN format('payload is a JSON %s, a payload is an object', jsonb_typeof(v_document));
  END IF;
  IF length(p_text) - length(translate(p_text, '{[', '')) > ${MAX_PAYLOAD_DEPTH} THEN
    -- Pairs of backslashes go first, then escaped quotes: what is left between two quotes is the inside of a string.
    p_text := replace(replace(p_text, ${backslash} || ${backslash}, ''), ${backslash} || '"', '');
    p_text := regexp_replace(p_text, '"[^"]*"', '', 'g');
    FOR v_mark IN SELECT m[1] FROM regexp_matches(p_text, '[][{}]', 'g') m LOOP
      v_depth := v_depth + CASE WHEN v_mark IN ('{', '[') THEN 1 ELSE -1 END;
      IF v_depth > ${MAX_PAYLOAD_DEPTH} THEN
        RETURN 'payload is nested more than ${MAX_PAYLOAD_DEPTH} deep';
      END IF;
    END LOOP;
  END IF;
  RETURN NULL;
END
$function$`,
    `COMMENT ON FUNCTION ${schema.of('refused_payload')}(text) IS 'Holdfast: what keeps a text from being the payload of a job, or null.'`,
  ];
}

export function dropEnqueue(schema: SchemaName): string[] {
  return [`DROP FUNCTION ${schema.of('enqueue')}(${ARGUMENTS})`, `DROP FUNCTION ${schema.of('refused_payload')}(text)`];
}
