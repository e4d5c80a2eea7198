import type { JobStateName } from './job-state.js';
import type { JobStatus } from './job.status.js';

/** JobFilter says which jobs; what is left out matches all (A1). */
export interface JobFilter {
  /** errorCode is the code of the last failure, or of the refusal. */
  readonly errorCode?: string;
  readonly kind?: string;
  readonly state?: JobStateName;
  readonly tenantId?: string;
}

/** ListOptions say which jobs a page shows, how many, and after which page it comes. */
export interface ListOptions extends JobFilter {
  /** cursor of the page before; it belongs to the filter that it came from. Default the first page. */
  readonly cursor?: string;
  /** limit is the most jobs of the page, 1 to 500. Default 50. */
  readonly limit?: number;
}

/** JobPage is a part of a list. */
export interface JobPage {
  /** cursor leads to the page after, which may be empty; null when there is none. */
  readonly cursor: string | null;
  readonly jobs: readonly JobStatus[];
}

/** RequeueFilter says which jobs are to be requeued: those of one state, and of a kind, a tenant, a code where they are named. */
export interface RequeueFilter extends ListOptions {
  readonly state: 'FAILED' | 'DEAD_LETTER' | 'CANCELLED';
}

/** PurgeFilter says which jobs are to be removed for good. */
export interface PurgeFilter extends Pick<JobFilter, 'kind' | 'tenantId'> {
  /** limit is the most jobs that one call removes, 1 to 10 000. Default 1 000. */
  readonly limit?: number;
  /** olderThan is how long ago they must have ended, such as `'30d'`; `'0s'` is all. By the database's clock. */
  readonly olderThan: string;
  readonly state: 'SUCCEEDED' | 'FAILED' | 'DEAD_LETTER' | 'CANCELLED';
}

/** PurgeResult is what a purge has removed. */
export interface PurgeResult {
  readonly deleted: number;
  /** more: the limit was reached, there may be others. */
  readonly more: boolean;
}

/**
 * RequeueAnswer is what became of one of several jobs; `asked` is the id that was given, `id` the job's, which differs for a request's.
 *
 * `requeued`: pending, and due now. `key_taken`: another job of its key is live. `wrong_state`: it has not ended, or has succeeded. `not_found`: there is none.
 * `busy`: another transaction held it, or its key, for longer than 2 s.
 */
export type RequeueAnswer =
  | { readonly asked: string; readonly disposition: 'requeued'; readonly id: string }
  | { readonly asked: string; readonly disposition: 'busy'; readonly id: string }
  | { readonly asked: string; readonly disposition: 'key_taken'; readonly id: string; readonly liveJobId: string }
  | { readonly asked: string; readonly disposition: 'wrong_state'; readonly id: string; readonly state: JobStateName }
  | { readonly asked: string; readonly disposition: 'not_found' };

/** RequeueResult is what became of the jobs that a filter found. */
export interface RequeueResult {
  /** cursor leads on; null when nothing is left. What was not requeued is behind it. */
  readonly cursor: string | null;
  /** refused are those that were not requeued, each with its reason. */
  readonly refused: readonly Exclude<RequeueAnswer, { readonly disposition: 'requeued' }>[];
  readonly requeued: readonly string[];
}

/** PausedKind is a kind of which no process claims a job. */
export interface PausedKind {
  readonly kind: string;
  readonly pausedAt: Date;
}

/** JobPayload is what a payload shows of itself (A1). */
export interface JobPayload {
  /** bytes is its size as JSON. */
  readonly bytes: number;
  /** id is the job's, or of a request that is no job yet. */
  readonly id: string;
  readonly kind: string;
  /** payload is what the hook `redactPayload` made of what is stored; undefined when it is too large to be shown. */
  readonly payload: unknown;
  /** tooLarge: it has more than 1 MiB, and was not read. */
  readonly tooLarge: boolean;
  /** version of the payload's shape. */
  readonly version: number;
}

/** RedactedJob is the job whose payload is shown. */
export interface RedactedJob {
  readonly id: string;
  readonly kind: string;
  readonly tenantId: string | null;
  readonly version: number;
}

/** RedactPayload answers what operators may see of a payload, which it is given as it is stored: what a codec encrypted is encrypted still. */
export type RedactPayload = (job: RedactedJob, payload: unknown) => unknown;
