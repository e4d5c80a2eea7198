import { Statement } from '@holdfast/kernel';

/** SweepJobsParams ask for the oldest finished jobs of a kind and a state, after the given one, in microseconds since 1970. */
export interface SweepJobsParams {
  readonly afterId: string;
  readonly afterMicros: string | null;
  readonly keepMs: number;
  readonly kind: string;
  readonly limit: number;
  readonly state: number;
}

/** SweptRow is how many went, and the last that was looked at. */
export interface SweptRow {
  readonly id: string;
  readonly micros: string;
  readonly removed: number;
}

/** Rows that a run leaves beside its job's, by its id. */
const RUN_TABLES = ['job_cancel', 'job_hold', 'job_progress', 'job_renewal'] as const;

/**
 * Removes finished jobs that have been kept for long enough, with the aliases of their requests and what their runs have left (S5).
 *
 * Locks: the jobs, FOR UPDATE SKIP LOCKED: it waits for nobody, and one that is requeued meanwhile is final no longer and stays. The rows beside them are nobody
 * else's by then. Index: job_ended from the mark on, job_alias_job, and primary keys by the array; no join. Fence: the state, looked at under the lock (the
 * last statement asks for `finished_at`, which is there in the same states: with the state itself it could be planned to go through all of job_ended).
 */
export const sweepJobs = new Statement<SweepJobsParams, SweptRow>({
  name: 'sweep-jobs',
  text: (schema) => {
    const doomed = 'ANY (ARRAY(SELECT d.id FROM doomed d))';
    const runRows = RUN_TABLES.map(
      (table) => `${table}s AS (DELETE FROM ${schema.of(table)} n WHERE n.job_id = ${doomed})`,
    );
    return `
WITH RECURSIVE doomed AS MATERIALIZED (
  SELECT j.id, j.finished_at FROM ${schema.of('job')} j
    WHERE j.kind = $1::text AND j.state = $2::smallint AND j.state >= 2 AND j.finished_at < now() - $3::float8 * interval '1 millisecond'
      AND (j.finished_at, j.id) > (coalesce('epoch'::timestamptz + $5::bigint * interval '1 microsecond', '-infinity'), $6::bigint)
    ORDER BY j.finished_at, j.id LIMIT $4::integer FOR UPDATE SKIP LOCKED
), named (id) AS (
  SELECT d.id FROM doomed d
  UNION
  SELECT a.request_id FROM named n CROSS JOIN LATERAL (SELECT a.request_id FROM ${schema.of('job_alias')} a WHERE a.job_id = n.id OFFSET 0) a
), aliases AS (
  DELETE FROM ${schema.of('job_alias')} a WHERE a.job_id = ANY (ARRAY(SELECT n.id FROM named n))
), ${runRows.join(', ')}, removed AS (
  DELETE FROM ${schema.of('job')} j WHERE j.id = ${doomed} AND j.finished_at IS NOT NULL RETURNING j.id
)
SELECT d.id::text AS id, (extract(epoch FROM d.finished_at) * 1000000)::bigint::text AS micros,
    (SELECT count(*) FROM removed)::int AS removed
  FROM doomed d ORDER BY d.finished_at DESC, d.id DESC LIMIT 1`;
  },
  values: (p) => [p.kind, p.state, p.keepMs, p.limit, p.afterMicros, p.afterId],
});
