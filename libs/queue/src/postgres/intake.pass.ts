import { sqlStateOf } from '@holdfast/kernel';
import type { IntakeResult } from '../ports/job-store.js';
import type { IntakeRow } from './sql/intake-requests.sql.js';

/** How often an intake looks again at once because a pending job was locked (a claim is short), or a key was not unique after all. */
const INTAKE_ATTEMPTS = 3;
const UNIQUE_VIOLATION = '23505';

/** takeIn turns a batch of committed requests into jobs by `send`, which is one statement of its own, and answers what came of it (Q7). */
export async function takeIn(send: () => Promise<IntakeRow | undefined>): Promise<IntakeResult> {
  const total = { created: 0, merged: 0, more: false, waiting: 0 };
  for (let attempt = 1; attempt <= INTAKE_ATTEMPTS; attempt++) {
    const row = await once(send, attempt === INTAKE_ATTEMPTS);
    if (!row) continue;
    total.created += row.created;
    total.merged += row.merged;
    total.waiting += row.waiting;
    total.more = row.more;
    if (row.skipped === 0) break;
  }
  return total;
}

async function once(send: () => Promise<IntakeRow | undefined>, last: boolean): Promise<IntakeRow | undefined> {
  try {
    return await send();
  } catch (error) {
    if (last || sqlStateOf(error) !== UNIQUE_VIOLATION) throw error;
    return undefined;
  }
}
