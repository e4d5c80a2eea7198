/** Always in UTC and in one form: read back under another DateStyle, or with the abbreviation of a time zone (IST), it would be another moment. */
const DUE_TEXT = `to_char(j.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/**
 * CLAIMED_COLUMNS is what a claim answers of `job j`, in the types of `JobRow`: ids as text, moments as milliseconds for people, and `due_text` for
 * the claim that gets it back as a mark (K11). Read as text and numbers, so that type parsers an application sets for all of `pg` do not matter.
 */
export const CLAIMED_COLUMNS = `j.id::text AS id, j.kind, j.tenant_id, j.priority, j.attempt, j.max_attempts, j.payload::text AS payload,
      j.payload_version, j.suspect, j.losses, ${DUE_TEXT} AS due_text,
      (extract(epoch FROM j.due_at) * 1000)::float8 AS due_ms,
      (extract(epoch FROM j.created_at) * 1000)::float8 AS created_ms,
      (extract(epoch FROM now() - j.deferred_since) * 1000)::float8 AS deferred_ms,
      (extract(epoch FROM greatest(now() - j.due_at, interval '0')) * 1000)::float8 AS waited_ms`;
