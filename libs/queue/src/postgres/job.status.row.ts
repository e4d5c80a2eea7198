import { jobStateName } from '../domain/job-state.js';
import type { JobFailure, JobStatus } from '../domain/job.status.js';
import type { StatusRow } from './sql/status-columns.sql.js';

/** FailureDocument is a failure as settle-jobs and reap-jobs write it. */
interface FailureDocument {
  readonly at: string;
  readonly attempt: number;
  readonly class?: string;
  readonly code: string;
  readonly message?: string;
}

/** jobStatusOf maps a row to what people see of a job. */
export function jobStatusOf(row: StatusRow): JobStatus {
  return {
    attempt: row.attempt,
    cancelRequestedAt: dateOf(row.cancel_asked_at),
    claimedAt: dateOf(row.claimed_at),
    createdAt: new Date(row.created_at),
    dedupeKey: row.dedupe_key,
    deferredSince: dateOf(row.deferred_since),
    dueAt: new Date(row.due_at),
    errorCode: row.error_code,
    failures: failuresOf(row.failures),
    finishedAt: dateOf(row.finished_at),
    id: row.id,
    kind: row.kind,
    maxAttempts: row.max_attempts,
    outcome: row.outcome,
    priority: row.priority,
    progress: row.progress,
    refusal: refusalOf(row.refusal),
    state: jobStateName(row.state),
    tenantId: row.tenant_id,
  };
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}

function failuresOf(text: string | null): JobFailure[] {
  const documents = text === null ? [] : (JSON.parse(text) as FailureDocument[]);
  return documents.map(({ at, attempt, class: errorClass, code, message }) => ({
    at: new Date(at),
    attempt,
    code,
    errorClass,
    message,
  }));
}

function refusalOf(text: string | null): JobStatus['refusal'] {
  if (text === null) return null;
  const { code, params } = JSON.parse(text) as {
    code: string;
    params: NonNullable<JobStatus['refusal']>['params'] | null;
  };
  return { code, params: params ?? {} };
}
