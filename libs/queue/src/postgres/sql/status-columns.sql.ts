import type { SchemaName } from '@holdfast/kernel';

/** StatusRow is a job without its payload; moments are milliseconds since 1970 and JSON is text, whatever parsers the application has set. */
export interface StatusRow {
  readonly attempt: number;
  readonly cancel_asked_at: number | null;
  readonly claimed_at: number | null;
  readonly created_at: number;
  readonly dedupe_key: string | null;
  readonly deferred_since: number | null;
  readonly due_at: number;
  readonly error_code: string | null;
  readonly failures: string | null;
  readonly finished_at: number | null;
  readonly id: string;
  readonly kind: string;
  readonly max_attempts: number | null;
  readonly outcome: string | null;
  readonly priority: number;
  readonly progress: number | null;
  readonly refusal: string | null;
  readonly state: number;
  readonly tenant_id: string | null;
}

const ms = (moment: string) => `(extract(epoch FROM ${moment}) * 1000)::float8`;

/** statusColumns are the columns of a StatusRow, of the job `j`. The payload is not among them, so that a large one is not fetched (K147). */
export const statusColumns = (
  schema: SchemaName,
): string => `j.id::text AS id, j.kind, j.tenant_id, j.dedupe_key, j.state::int AS state, j.priority::int AS priority, j.attempt, j.max_attempts,
  j.outcome, j.error_code, j.refusal::text AS refusal, j.failures::text AS failures, ${ms('j.created_at')} AS created_at, ${ms('j.due_at')} AS due_at,
  ${ms('j.claimed_at')} AS claimed_at, ${ms('j.finished_at')} AS finished_at, ${ms('j.deferred_since')} AS deferred_since,
  (SELECT ${ms('c.asked_at')} FROM ${schema.of('job_cancel')} c WHERE c.job_id = j.id AND j.state IN (0, 1)) AS cancel_asked_at,
  (SELECT p.fraction FROM ${schema.of('job_progress')} p WHERE p.job_id = j.id AND p.claimed_at = j.claimed_at) AS progress`;

/** REQUESTED_COLUMNS are those of a request `r` that is no job yet. */
export const REQUESTED_COLUMNS = `r.id::text, r.kind, r.tenant_id, r.dedupe_key, 0, r.priority::int, 0, r.max_attempts, NULL, NULL, NULL, NULL,
  ${ms('r.created_at')}, ${ms('r.due_at')}, NULL, NULL, NULL, NULL, NULL`;
