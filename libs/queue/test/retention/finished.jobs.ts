import type { TestDatabase } from '@holdfast/testing';
import { JobState, type JobStateName } from '../../src/domain/job-state.js';
import { SCHEMA } from '../store.harness.js';

const JOB = SCHEMA.of('job');

/** FinishedJobs are what a test puts into the table. */
export interface FinishedJobs {
  /** age of their end, such as `'2 days'`. */
  readonly age: string;
  readonly count?: number;
  readonly kind: string;
  readonly state?: JobStateName;
}

/** finish puts finished jobs into the table and answers their ids, the oldest first. */
export async function finish(
  db: TestDatabase,
  { age, count = 1, kind, state = 'SUCCEEDED' }: FinishedJobs,
): Promise<string[]> {
  const rows = await db.adminQuery<{ id: string }>(
    `INSERT INTO ${JOB} (kind, payload, state, finished_at)
       SELECT $1, '{}', $2, clock_timestamp() - $3::interval + i * interval '1 microsecond' FROM generate_series(1, $4::int) i
       RETURNING id::text`,
    [kind, JobState[state], age, count],
  );
  return rows.map(({ id }) => id);
}

/** left answers how many jobs there are by kind and state. */
export async function left(db: TestDatabase): Promise<Record<string, number>> {
  const rows = await db.adminQuery<{ count: number; kind: string; state: number }>(
    `SELECT kind, state, count(*)::int AS count FROM ${JOB} GROUP BY kind, state ORDER BY kind, state`,
  );
  const names = Object.keys(JobState);
  return Object.fromEntries(rows.map(({ count, kind, state }) => [`${kind} ${names[state]}`, count]));
}
