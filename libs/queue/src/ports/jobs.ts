import type { CancelAnswer, CancelOptions } from '../domain/cancel.answer.js';
import type {
  JobPage,
  JobPayload,
  ListOptions,
  PausedKind,
  PurgeFilter,
  PurgeResult,
  RequeueAnswer,
  RequeueFilter,
  RequeueResult,
} from '../domain/job.listing.js';
import type { JobStatus } from '../domain/job.status.js';

/**
 * Jobs is the port for people and routes: it shows jobs and changes what operators may change of them (A1). It is there in every role.
 *
 * Every verb reads what is committed and writes in a transaction of its own, on the queue's own connections: it joins neither a unit of work nor a handler's
 * transaction, and is not undone with one. It sees the jobs of every tenant: whoever shows them compares `tenantId`. An id is a job's, or one that an enqueue
 * answered. Nobody is waited for while anything is held; what another transaction holds is tried again for 2 s.
 */
export abstract class Jobs {
  /**
   * cancel ends a job, by its id or by one that an enqueue answered (R16): a pending one at once, and so a request that is no job yet; a running one is asked to
   * end, within about a second. It ends for all whose requests have joined it, or would at the next intake; requests that wait for a run to end make a new job (Q6).
   *
   * In a transaction of its own; the state is what counts, so to ask again is harmless. Rejects with JobBusyError when an open transaction holds the job, or a request's key, for longer than 2 s.
   */
  abstract cancel(id: string, options?: CancelOptions): Promise<CancelAnswer>;

  /**
   * delete removes a job that is pending or has ended, for good, with the ids that led to it; whoever was told one of them finds nothing any more. A request that is
   * no job yet counts as pending. Requests of its key that no intake has seen make a job of their own.
   *
   * Answers the id that was removed. Rejects with JobNotFoundError, JobStateError while it runs, JobBusyError.
   */
  abstract delete(id: string): Promise<string>;

  /**
   * find answers a job by its id, or by the id that an enqueue answered with `requested`; undefined when there is none, also for a text that is no id.
   *
   * It reads what is committed, on a connection of its own.
   */
  abstract find(id: string): Promise<JobStatus | undefined>;

  /**
   * list answers a page of jobs, never their payloads (K147): those that run, those that wait in the order in which they would run, kind by kind, then dead
   * letters, refused, cancelled and succeeded ones, the last to end first. With a state, those alone.
   *
   * A job that does not change meanwhile is on exactly one page. A tenant or a code is looked for among 2 000 jobs of each state a page, so that no
   * list takes long: a page may hold fewer than its limit, and none, and still have a cursor. Requests that no intake has seen are not among them. Rejects with
   * InvalidFilterError.
   */
  abstract list(options?: ListOptions): Promise<JobPage>;

  /**
   * pauseKind keeps every process from claiming jobs of a kind, from its next poll on (2 s), until `resumeKind`: also processes that start meanwhile, and for a
   * kind that none of them knows. What runs goes on to its end; enqueues, intake, reaping and depth go on.
   *
   * Answers whether it was not paused before. Rejects with InvalidFilterError for what is no kind.
   */
  abstract pauseKind(kind: string): Promise<boolean>;

  /** pausedKinds answers the kinds that are paused, in their order. */
  abstract pausedKinds(): Promise<PausedKind[]>;

  /**
   * payload answers the payload of one job, through the hook of the option `redactPayload`; over 1 MiB its size alone.
   *
   * Rejects with PayloadHiddenError without a hook, with JobNotFoundError, and with what the hook throws.
   */
  abstract payload(id: string): Promise<JobPayload>;

  /**
   * purge removes jobs that have ended in a state, the oldest first, in transactions of 200 at most. What somebody holds is left; a job that was requeued meanwhile stays.
   *
   * Rejects with InvalidFilterError.
   */
  abstract purge(filter: PurgeFilter): Promise<PurgeResult>;

  /**
   * requeue makes a job that was refused, dead or cancelled pending again: due now, with all its attempts, its error, refusal and outcome cleared; payload, key,
   * priority and its last failures stay. From then on it is its key's live job, which enqueues join (Q4).
   *
   * Answers the job's id. Rejects with JobNotFoundError, JobStateError for any other state, KeyTakenError with the live job of its key, JobBusyError.
   */
  abstract requeue(id: string): Promise<string>;

  /**
   * requeueMany as requeue, for at most 1 000 ids, and tells what became of each, in their order. In transactions of 100: each job is requeued or not by itself.
   *
   * Rejects with InvalidFilterError for more.
   */
  abstract requeueMany(ids: readonly string[]): Promise<RequeueAnswer[]>;

  /**
   * requeueMatching requeues what a page of `list` with this filter shows, at most `limit` jobs (50), and answers the cursor that leads on: call it until
   * that is null. A job that another one of its key keeps from being requeued is told once.
   *
   * Rejects with InvalidFilterError.
   */
  abstract requeueMatching(filter: RequeueFilter): Promise<RequeueResult>;

  /** resumeKind ends a pause: processes claim again from their next poll on. Answers whether it was paused. Rejects with InvalidFilterError for what is no kind. */
  abstract resumeKind(kind: string): Promise<boolean>;

  /**
   * runNow makes a pending job due now, also one that waits out a retry or an outage: its attempts stay spent, and `maxDefer` is counted from the same moment.
   * It runs as soon as a slot is free and its turn comes by priority. A request that is no job yet is due now as well; one that waits for a run runs when that has ended.
   *
   * Answers the id. Rejects with JobNotFoundError, JobStateError when it runs or has ended, JobBusyError.
   */
  abstract runNow(id: string): Promise<string>;
}
