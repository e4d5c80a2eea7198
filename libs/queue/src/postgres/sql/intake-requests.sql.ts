import { Statement } from '@holdfast/kernel';
import { pausedKindsOf } from './list-paused-kinds.sql.js';

/** IntakeRow counts what one intake did; skipped are requests whose pending job was locked in that moment. */
export interface IntakeRow {
  readonly created: number;
  readonly merged: number;
  readonly more: boolean;
  /** paused are the kinds that are paused now: read here, so that a poll sends no statement for them. */
  readonly paused: string[];
  readonly skipped: number;
  readonly waiting: number;
}

/**
 * Turns committed requests into jobs by the function intake_requests (Q7): in one round trip, so that no stall of this process keeps a key from the others.
 *
 * Locks: an advisory lock per key, tried; pending jobs of those keys, FOR UPDATE SKIP LOCKED. Index: job_request_pk, job_request_waiting, job_live_keys. Fence: none.
 */
export const intakeRequests = new Statement<{ readonly limit: number }, IntakeRow>({
  name: 'intake-requests',
  text: (schema) =>
    `SELECT i.created, i.merged, i.waiting, i.skipped, i.more, ${pausedKindsOf(schema)} AS paused FROM ${schema.of('intake_requests')}($1::integer) i`,
  values: (p) => [p.limit],
});
