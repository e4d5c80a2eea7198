import { waitFor, type TestDatabase } from '@holdfast/testing';
import type { JobStateName } from '../../src/domain/job-state.js';
import { jobStateName } from '../../src/domain/job-state.js';

/** Gate is a promise that a test opens. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function gate(): Gate {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

/** stateOf answers the state of a job as the table has it. */
export async function stateOf(db: TestDatabase, id: string, schema = 'holdfast'): Promise<JobStateName> {
  const [row] = await db.adminQuery<{ state: number }>(`SELECT state FROM "${schema}".job WHERE id = $1`, [id]);
  if (!row) throw new Error(`There is no job ${id}.`);
  return jobStateName(row.state);
}

/** untilState resolves when a job has reached a state. */
export function untilState(db: TestDatabase, id: string, state: JobStateName, schema?: string): Promise<unknown> {
  return waitFor(async () => (await stateOf(db, id, schema)) === state, { what: `job ${id} to be ${state}` });
}

/** emptied removes every job and request, so that tests of one file do not meet. */
export async function emptied(db: TestDatabase): Promise<void> {
  const tables = ['job', 'job_request', 'job_alias', 'job_renewal', 'job_hold', 'job_cancel'].map(
    (table) => `holdfast.${table}`,
  );
  await db.adminQuery(`TRUNCATE ${tables.join(', ')}`);
}
