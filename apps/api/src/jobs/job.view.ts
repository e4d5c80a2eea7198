import type { JobStatus } from '@holdfast/queue';

/** JobView is what whoever got a 202 may know of a job (H2): codes, numbers and moments, never the payload. */
export interface JobView {
  /** attempts spent, the running one included. */
  readonly attempts: number;
  readonly createdAt: string;
  /** dueAt is the moment from which the next run is due, or the last one was. */
  readonly dueAt: string;
  /** error is the code of the last failure, or null. */
  readonly error: string | null;
  readonly finishedAt: string | null;
  readonly id: string;
  readonly kind: string;
  /** maxAttempts is null for no bound. */
  readonly maxAttempts: number | null;
  readonly outcome: string | null;
  /** progress is how far its last run has come, from 0 to 1, or null where it has reported nothing. */
  readonly progress: number | null;
  readonly refusal: JobStatus['refusal'];
  readonly state: JobStatus['state'];
}

/** jobView picks what may be shown. */
export function jobView(job: JobStatus): JobView {
  return {
    attempts: job.attempt,
    createdAt: job.createdAt.toISOString(),
    dueAt: job.dueAt.toISOString(),
    error: job.errorCode,
    finishedAt: job.finishedAt?.toISOString() ?? null,
    id: job.id,
    kind: job.kind,
    maxAttempts: job.maxAttempts,
    outcome: job.outcome,
    progress: job.progress,
    refusal: job.refusal,
    state: job.state,
  };
}
