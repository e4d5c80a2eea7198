/** The queue without NestJS: `createQueue({ database: pgPool(pool) })`, and the parts it is made of. */
export {
  CommitUnknownError,
  Database,
  executorOf,
  type IsolationLevel,
  NoOpenTransactionError,
  type OpenTransaction,
  pgPool,
  type SqlExecutor,
  type SqlResult,
  type Transaction,
  type TransactionHandle,
  type TransactionHost,
  UnitOfWork,
  type UnitOfWorkOptions,
} from '@holdfast/kernel';
export { type FailureClass, PermanentError, RetryableError, UnavailableError } from '@holdfast/kernel/pure';

export { createQueue, HoldfastQueue } from './assembly/holdfast.queue.js';
export type {
  LeadershipMode,
  MigrationMode,
  NotificationMode,
  QueueOptions,
  RunOptions,
  ScheduleOptions,
  TenancyOptions,
} from './assembly/queue.options.js';
export type { EnqueueOptions, JoinOptions } from './client/enqueue.options.js';
export { JobQueue, type JobQueueOptions } from './client/job-queue.js';

export type { DeclaredEnding, EndedJob, FollowUp, OnEndOptions } from './domain/on-end.js';
export type { CancelAnswer, CancelOptions } from './domain/cancel.answer.js';
export * from './domain/definition.js';
export type { JobOptions } from './domain/definition.options.js';
export type { ErrorDetail, FailureRecord } from './domain/failure.js';
export { JobState, type JobStateCode, type JobStateName } from './domain/job-state.js';
export type { GroupCommit, GroupCommitOptions } from './domain/group-commit.js';
export * from './domain/job.js';
export type {
  JobFilter,
  JobPage,
  JobPayload,
  ListOptions,
  PausedKind,
  PurgeFilter,
  PurgeResult,
  RedactedJob,
  RedactPayload,
  RequeueAnswer,
  RequeueFilter,
  RequeueResult,
} from './domain/job.listing.js';
export type { JobFailure, JobStatus } from './domain/job.status.js';
export * from './domain/json.js';
export type { Lease } from './domain/lease.js';
export * from './domain/outcome.js';
export { decodePayload, type PayloadCodec, type Upcasts } from './domain/payload.codec.js';
export { type } from './domain/payload.schema.js';
export type { RefusalParams } from './domain/refusal.js';
export {
  DEFAULT_RETENTION,
  type Ending,
  type Keep,
  type Retention,
  type RetentionOptions,
} from './domain/retention.js';
export {
  DEFAULT_PAYLOAD_LIMIT_BYTES,
  type Disposition,
  type EncodedRequest,
  encodeRequest,
  type EncodingContext,
  type Enqueued,
  type JobRequest,
  type RequestOptions,
  type WhenRunning,
} from './domain/request.js';
export {
  type Classification,
  type ClassifyError,
  decideFailure,
  type FailedAttempt,
  type FailureDecision,
} from './domain/retry.policy.js';
export type { Completion, Conclusion, Settlement } from './domain/settlement.js';

export type { BatchResult, BatchResults } from './handlers/batch.results.js';
export type {
  AttachedContext,
  AttachedHandler,
  BatchContext,
  BatchHandler,
  DetachedContext,
  DetachedHandler,
  Finished,
  JobOf,
  RunContext,
} from './handlers/handler.interface.js';
export type { HandlerMode } from './handlers/handler.check.js';
export {
  type BatchResolution,
  type GivenHandler,
  type HandlerEntry,
  handlerEntry,
  type HandlerResolution,
} from './handlers/handler.entry.js';
export { JobHandlerRegistry } from './handlers/job-handler.registry.js';
export { type InterceptorEntry, JobInterceptorRegistry } from './handlers/job-interceptor.registry.js';
export {
  type BatchCall,
  type Intercepting,
  type InterceptOptions,
  type JobAnswer,
  type JobCall,
  JobInterceptor,
} from './handlers/job.interceptor.js';

export type { ClientEvent } from './ports/client.events.js';
export { EventStream, type NextOptions } from './ports/event.stream.js';
export { AdvisoryLockLeadership, type AdvisoryLockLeadershipOptions } from './leadership/advisory-lock.leadership.js';
export type { LeaderTransactions } from './leadership/always.candidate.js';
export { AlwaysLeadership } from './leadership/always.leadership.js';
export { NeverLeadership } from './leadership/never.leadership.js';

export type { Duty, DutyContext, DutyOptions, DutyRun } from './ports/duty.js';
export { DutyLedger, type DueDuties, type DutyEnd, type DutyPlan, type DutyStart } from './ports/duty.ledger.js';
export {
  type DatabaseHealth,
  type ExpiredJobs,
  type ExpiredPage,
  Housekeeping,
  type KindDeferrals,
  type OldestTransaction,
  type SweepMark,
  type SweepOrder,
  type Swept,
} from './ports/housekeeping.js';
export * from './ports/job-store.js';
export { Jobs } from './ports/jobs.js';
export {
  type Candidate,
  type CandidateOptions,
  Leadership,
  type LeaderTransactionOptions,
} from './ports/leadership.js';
export type { ListenerEvent } from './ports/listener.events.js';
export type { EventOf, QueueEvent } from './ports/queue.events.js';
export {
  type ConnectionRole,
  type JobEvent,
  type LoopStage,
  type RunnerEvent,
  type RunRef,
} from './ports/runner.events.js';
export { Reporter } from './ports/reporter.js';
export { type DeclaredRetention, type RunnerPresence, RunnerRoster } from './ports/runner.roster.js';
export type { RunnerVitals, StageTrouble } from './ports/runner.vitals.js';
export type { DutyEvent, LeaderEvent, SchedulerEvent, SchedulerStage } from './ports/scheduler.events.js';

export { PostgresDutyLedger } from './postgres/postgres.duty-ledger.js';
export { PostgresRunnerRoster, type RunnerRosterOptions } from './postgres/postgres.runner-roster.js';
export { PostgresHousekeeping } from './postgres/postgres.housekeeping.js';
export { PostgresJobStore, type PostgresJobStoreOptions } from './postgres/postgres.job-store.js';
export { PostgresJobs, type PostgresJobsOptions } from './postgres/postgres.jobs.js';

export type { DrainResult } from './runner/crew.js';
export type { LogLevel } from './runner/log.line.js';
export { LoggingReporter, type LogSink } from './runner/logging.reporter.js';
export { Runner } from './runner/runner.js';
export type { KindOverrides, LeaseOptions, RunnerOptions } from './runner/runner.options.js';
export { SilentReporter } from './runner/silent.reporter.js';

export { type DutyEntry, DutyRegistry } from './scheduler/duty.registry.js';
export { Scheduler, type SchedulerParts } from './scheduler/scheduler.js';
export type { SchedulerOptions } from './scheduler/scheduler.options.js';
export type { SchedulerVitals } from './scheduler/scheduler.vitals.js';

export { AmbiguousTransactionError } from './errors/ambiguous-transaction.error.js';
export { DuplicateCandidateError } from './errors/duplicate-candidate.error.js';
export { DuplicateDutyError } from './errors/duplicate-duty.error.js';
export { DuplicateHandlerError } from './errors/duplicate-handler.error.js';
export { HandlerMistakesError } from './errors/handler-mistakes.error.js';
export { InvalidCandidateError } from './errors/invalid-candidate.error.js';
export { InvalidDeadlineError } from './errors/invalid-deadline.error.js';
export { DutyStoppedError } from './errors/duty-stopped.error.js';
export { DutyTimedOutError } from './errors/duty-timed-out.error.js';
export { InvalidDefinitionError } from './errors/invalid-definition.error.js';
export { InvalidDutyError } from './errors/invalid-duty.error.js';
export { InvalidFilterError } from './errors/invalid-filter.error.js';
export { InvalidHandlerError } from './errors/invalid-handler.error.js';
export { InvalidInterceptorError } from './errors/invalid-interceptor.error.js';
export { InvalidListenerError } from './errors/invalid-listener.error.js';
export { InvalidOutcomeError } from './errors/invalid-outcome.error.js';
export { InvalidPayloadError } from './errors/invalid-payload.error.js';
export { InvalidQueueOptionsError } from './errors/invalid-queue-options.error.js';
export { InvalidRequestError } from './errors/invalid-request.error.js';
export { InvalidRunnerOptionsError } from './errors/invalid-runner-options.error.js';
export { JobBusyError } from './errors/job-busy.error.js';
export { JobCancelledError } from './errors/job-cancelled.error.js';
export { JobNotFoundError } from './errors/job-not-found.error.js';
export { JobStateError } from './errors/job-state.error.js';
export { KeyTakenError } from './errors/key-taken.error.js';
export { LeadershipClosedError } from './errors/leadership-closed.error.js';
export { LeadershipUnprovedError } from './errors/leadership-unproved.error.js';
export { InvalidSchedulerOptionsError } from './errors/invalid-scheduler-options.error.js';
export { LeaseLostError } from './errors/lease-lost.error.js';
export { NewerPayloadError } from './errors/newer-payload.error.js';
export { NoHandlersError } from './errors/no-handlers.error.js';
export { NoTransactionError } from './errors/no-transaction.error.js';
export { NotADefinitionError } from './errors/not-a-definition.error.js';
export { NestedLeaderTransactionError } from './errors/nested-leader-transaction.error.js';
export { NotLeaderError } from './errors/not-leader.error.js';
export { BatchTooLargeError } from './errors/batch-too-large.error.js';
export { PayloadHiddenError } from './errors/payload-hidden.error.js';
export { PayloadTooLargeError } from './errors/payload-too-large.error.js';
export { PoolerError } from './errors/pooler.error.js';
export { PoolTooSmallError } from './errors/pool-too-small.error.js';
export { QueueClosedError } from './errors/queue-closed.error.js';
export { RefusedRequestError } from './errors/refused-request.error.js';
export { RunNotFinishedError } from './errors/run-not-finished.error.js';
export { RunSettledError } from './errors/run-settled.error.js';
export { RunStoppedError } from './errors/run-stopped.error.js';
export { SecondQueueError } from './errors/second-queue.error.js';
export { TimedOutError } from './errors/timed-out.error.js';
export { UnknownDutyError } from './errors/unknown-duty.error.js';
export { UnlockFailedError } from './errors/unlock-failed.error.js';
export { UnreadablePayloadError } from './errors/unreadable-payload.error.js';
