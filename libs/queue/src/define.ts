/**
 * What a file of job definitions needs, and nothing that loads NestJS or a database: producers and workers share such files.
 */
export * from './domain/definition.js';
export type { JobOptions } from './domain/definition.options.js';
export type { ErrorDetail } from './domain/failure.js';
export type { GroupCommit, GroupCommitOptions } from './domain/group-commit.js';
export * from './domain/job.js';
export * from './domain/json.js';
export * from './domain/outcome.js';
export type { PayloadCodec, Upcasts } from './domain/payload.codec.js';
export { type } from './domain/payload.schema.js';
export type { RefusalParams } from './domain/refusal.js';
export type { EndedJob, FollowUp, OnEndOptions } from './domain/on-end.js';
export type { RetentionOptions } from './domain/retention.js';
export type { Disposition, Enqueued, JobRequest, RequestOptions, WhenRunning } from './domain/request.js';
export type { Classification, ClassifyError } from './domain/retry.policy.js';
export { InvalidDefinitionError } from './errors/invalid-definition.error.js';
export { InvalidOutcomeError } from './errors/invalid-outcome.error.js';
export { type FailureClass, PermanentError, RetryableError, UnavailableError } from '@holdfast/kernel/pure';
