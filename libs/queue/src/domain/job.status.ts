import type { FailureRecord } from './failure.js';
import type { JobStateName } from './job-state.js';
import type { RefusalParams } from './refusal.js';

/** JobFailure is a failed attempt as the row keeps it, with its moment. */
export interface JobFailure extends FailureRecord {
  readonly at: Date;
}

/** JobStatus is what people and routes see of a job. It never carries the payload. */
export interface JobStatus {
  /** attempt is how many attempts are spent, the running one included. */
  readonly attempt: number;
  /** cancelRequestedAt is when somebody asked for a job that was running to be cancelled; null once it has ended (R16). */
  readonly cancelRequestedAt: Date | null;
  /** claimedAt is when its last attempt was claimed, or null. */
  readonly claimedAt: Date | null;
  readonly createdAt: Date;
  readonly dedupeKey: string | null;
  /** deferredSince is the first deferral of the outage that it waits out, or null (R10). */
  readonly deferredSince: Date | null;
  /** dueAt is the moment from which its next run is due, or its last one was. */
  readonly dueAt: Date;
  /** errorCode is the code of the last failure, or of the refusal (R8, R12). */
  readonly errorCode: string | null;
  /** failures are the last failed attempts, the oldest first (R8). */
  readonly failures: readonly JobFailure[];
  /** finishedAt is when it ended, or null. */
  readonly finishedAt: Date | null;
  /** id is the job's; it differs from the id that was asked for when a request joined another job. */
  readonly id: string;
  readonly kind: string;
  /** maxAttempts is null for `'unlimited'`. */
  readonly maxAttempts: number | null;
  readonly outcome: string | null;
  readonly priority: number;
  /** progress is what its last run has reported last, from 0 to 1, also once it has ended; null where that run has reported nothing (R15). */
  readonly progress: number | null;
  /** refusal is what the handler answered when it refused the job (R12), or null. */
  readonly refusal: { readonly code: string; readonly params: RefusalParams } | null;
  /** state: a request that no intake has seen yet is PENDING. */
  readonly state: JobStateName;
  readonly tenantId: string | null;
}
