import type { FailureRecord } from '../domain/failure.js';
import { jobStateName } from '../domain/job-state.js';
import type { JobStatus } from '../domain/job.status.js';
import type { RefusalParams } from '../domain/refusal.js';
import type { FindJobRow } from './sql/find-job.sql.js';

/** jobStatusOf maps a row to what people see of a job. */
export function jobStatusOf(row: FindJobRow): JobStatus {
  const state = jobStateName(row.state);
  return {
    attempt: row.attempt,
    claimedAt: dateOf(row.claimed_at),
    createdAt: new Date(row.created_at),
    dedupeKey: row.dedupe_key,
    deferredSince: dateOf(row.deferred_since),
    dueAt: new Date(row.due_at),
    errorCode: row.error_code,
    failures: row.failures === null ? [] : (JSON.parse(row.failures) as FailureRecord[]),
    finishedAt: dateOf(row.finished_at),
    id: row.id,
    kind: row.kind,
    maxAttempts: row.max_attempts,
    outcome: row.outcome,
    priority: row.priority,
    refusal:
      state === 'FAILED' && row.error_code !== null ? { code: row.error_code, params: paramsOf(row.refusal) } : null,
    state,
    tenantId: row.tenant_id,
  };
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}

function paramsOf(refusal: string | null): RefusalParams {
  return refusal === null ? {} : (JSON.parse(refusal) as RefusalParams);
}
