import { type BackoffOptions, type Duration, type IsolationLevel, parseDuration } from '@holdfast/kernel/pure';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { InvalidDefinitionError } from '../errors/invalid-definition.error.js';
import { checkJobOptions, type JobOptions } from './definition.options.js';
import { type GroupCommit, groupCommitOf } from './group-commit.js';
import type { OnEndOptions } from './on-end.js';
import type { PayloadCodec, Upcasts } from './payload.codec.js';
import type { PayloadSchema } from './payload.schema.js';
import { jobRequest, type JobRequest, type RequestOptions, type WhenRunning } from './request.js';
import { type Retention, retentionOf } from './retention.js';
import type { ErrorDetail } from './failure.js';
import type { ClassifyError } from './retry.policy.js';

/**
 * JobDefinition declares a kind once for both sides: what producers may enqueue and what its handler gets. `defineJob` makes one, frozen.
 *
 * Frozen into the row at enqueue: payload and its version, maxAttempts, priority, whenRunning. Read at run: everything else.
 */
export interface JobDefinition<Kind extends string = string, Input = unknown, Output = unknown> {
  readonly backoff: BackoffOptions;
  readonly classifyError: ClassifyError | undefined;
  readonly codec: PayloadCodec | undefined;
  /** concurrency is the most jobs of this kind that one process runs at once; null is as many as it has slots (Q15). */
  readonly concurrency: number | null;
  readonly errorDetail: ErrorDetail | undefined;
  /** groupCommit is null where each job has a transaction of its own (R21). */
  readonly groupCommit: GroupCommit | null;
  readonly isolation: IsolationLevel;
  readonly kind: Kind;
  /** maxAttempts is null for `'unlimited'`. */
  readonly maxAttempts: number | null;
  readonly maxDeferMs: number;
  /** onEnd are the jobs that follow on its ends (R14). */
  readonly onEnd: OnEndOptions;
  readonly priority: number;
  /** retention is what this definition says of how long its finished jobs are kept; the rest is the module's (S5). */
  readonly retention: Readonly<Partial<Retention>>;
  readonly schema: PayloadSchema<Input, Output>;
  readonly timeoutMs: number;
  /** types carries the payload's types and is never set. */
  readonly types?: { readonly input: Input; readonly output: Output };
  readonly upcasts: Upcasts;
  readonly version: number;
  readonly whenRunning: WhenRunning;
  /** request makes a request of this kind that can be handed on and enqueued later; it is checked when it is enqueued. */
  request(payload: Input, options?: RequestOptions): JobRequest;
}

/** AnyJobDefinition is a definition whose payload type does not matter. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- variance: a definition of any payload must be assignable
export type AnyJobDefinition = JobDefinition<string, any, any>;

/** PayloadOf is the payload a handler of the definition gets: the schema's output. */
export type PayloadOf<D extends AnyJobDefinition> = NonNullable<D['types']>['output'];

/** PayloadInputOf is the payload a producer writes: the schema's input. */
export type PayloadInputOf<D extends AnyJobDefinition> = NonNullable<D['types']>['input'];

/** The backoff of a definition that names none: 10 s, 30 s, 90 s … up to 6 h, each by up to a fifth more or less. */
export const DEFAULT_BACKOFF: BackoffOptions = Object.freeze({ base: '10s', factor: 3, max: '6h', jitter: 0.2 });

/**
 * defineJob declares a kind: `defineJob('webhook.deliver', { payload: z.object({ … }), timeout: '30s' })`.
 *
 * A kind is a word written by hand, never assembled from data: it labels metrics. Throws InvalidDefinitionError with every mistake at once.
 */
export function defineJob<const Kind extends string, Schema extends PayloadSchema>(
  kind: Kind,
  options: JobOptions<Schema>,
): JobDefinition<Kind, StandardSchemaV1.InferInput<Schema>, StandardSchemaV1.InferOutput<Schema>> {
  const problems = checkJobOptions(kind, options);
  if (problems.length > 0) throw new InvalidDefinitionError(kind, problems);
  type Input = StandardSchemaV1.InferInput<Schema>;
  type Output = StandardSchemaV1.InferOutput<Schema>;
  const definition: JobDefinition<Kind, Input, Output> = Object.freeze({
    backoff: Object.freeze({ ...(options.backoff ?? DEFAULT_BACKOFF) }),
    classifyError: options.classifyError,
    codec: options.codec,
    concurrency: options.concurrency ?? null,
    errorDetail: options.errorDetail,
    groupCommit: groupCommitOf(options.groupCommit),
    isolation: options.isolation ?? 'READ COMMITTED',
    kind,
    maxAttempts: options.maxAttempts === 'unlimited' ? null : (options.maxAttempts ?? 8),
    maxDeferMs: parseDuration(options.maxDefer ?? '1d'),
    onEnd: Object.freeze({ ...options.onEnd }),
    priority: options.priority ?? 5,
    request: (payload: Input, requestOptions?: RequestOptions) => jobRequest(definition, payload, requestOptions),
    retention: retentionOf(options.retention ?? {}),
    schema: options.payload,
    timeoutMs: parseDuration(options.timeout ?? '30s'),
    upcasts: Object.freeze({ ...options.upcasts }),
    version: options.version ?? 1,
    whenRunning: options.whenRunning ?? 'merge',
  });
  return definition;
}

/** isJobDefinition tells whether a value was made by `defineJob`, by any copy of this package. */
export function isJobDefinition(value: unknown): value is AnyJobDefinition {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, request, schema } = value as Partial<AnyJobDefinition>;
  return typeof kind === 'string' && typeof request === 'function' && schema !== undefined;
}

export type { BackoffOptions, Duration, PayloadSchema };
