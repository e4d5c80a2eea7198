import { Backoff, type BackoffOptions, type IsolationLevel, parseDuration } from '@holdfast/kernel/pure';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { type GroupCommitOptions, problemOfGroupCommit } from './group-commit.js';
import { isKind, MAX_KIND_LENGTH } from './kind.js';
import { type OnEndOptions, problemOfOnEnd } from './on-end.js';
import type { PayloadCodec, Upcasts } from './payload.codec.js';
import { isPayloadSchema, type PayloadSchema } from './payload.schema.js';
import type { WhenRunning } from './request.js';
import { problemOfRetention, type RetentionOptions } from './retention.js';
import type { ErrorDetail } from './failure.js';
import type { ClassifyError } from './retry.policy.js';

/** JobOptions declare what a kind is; each has a default but the payload. */
export interface JobOptions<Schema extends PayloadSchema> {
  /** backoff is the wait between failed attempts (R9). Default `{ base: '10s', factor: 3, max: '6h', jitter: 0.2 }`. */
  readonly backoff?: BackoffOptions;
  /** classifyError sorts errors that carry no class of their own; undefined leaves it to the module's hook and the error (R10). Default none. */
  readonly classifyError?: ClassifyError;
  /** codec stores the payload in another form: dates, encryption (Q3). Default none. */
  readonly codec?: PayloadCodec<StandardSchemaV1.InferInput<Schema>>;
  /** concurrency is the most jobs of this kind that one process runs at once (Q15). Default as many as it has slots. */
  readonly concurrency?: number;
  /** errorDetail is how much of an error the row keeps (R8). Default what the module says: `'class'`. */
  readonly errorDetail?: ErrorDetail;
  /**
   * groupCommit lets small attached jobs of this kind share a transaction: one COMMIT for several (R21). A group of which anything fails is rolled back and its members run one by one, so
   * that a handler may run twice for an attempt; its effects commit once. Default each job in its own.
   */
  readonly groupCommit?: GroupCommitOptions;
  /** isolation is that of an attached handler's transaction (Q16). Default READ COMMITTED. */
  readonly isolation?: IsolationLevel;
  /** maxAttempts is 1..100, or `'unlimited'` for pollers. Default 8. */
  readonly maxAttempts?: number | 'unlimited';
  /** maxDefer is how long unavailable failures wait without spending an attempt, from the first of an outage (R10). Default `'1d'`. */
  readonly maxDefer?: string;
  /**
   * onEnd names jobs that follow when one of this kind ends as a dead letter, refused or cancelled, in the transaction that ends it (R14): `{ deadLetter: TellSupport }`.
   * Their payload is EndedJob; they inherit the tenant. Default none.
   */
  readonly onEnd?: OnEndOptions;
  /** payload is any Standard Schema, or `type<P>()` for the type alone. */
  readonly payload: Schema;
  /** priority is 0 (first) to 9 (last). Default 5. */
  readonly priority?: number;
  /** retention is how long finished jobs are kept, by how they ended: `{ succeeded: '1h', deadLetter: 'forever' }` (S5). Default what the module says. */
  readonly retention?: RetentionOptions;
  /** timeout is the longest an attempt may take (R6). Default `'30s'`. */
  readonly timeout?: string;
  /** upcasts bring payloads of older versions up, by one version each, without a gap up to `version` (Q3). Default none. */
  readonly upcasts?: Upcasts;
  /** version is the version of the payload's shape, stored with it (Q3). Default 1. */
  readonly version?: number;
  /** whenRunning says whether a run that is already RUNNING satisfies a request with its key (Q6). Default `'merge'`. */
  readonly whenRunning?: WhenRunning;
}

const MAX_VERSION = 32_767;
const ISOLATION_LEVELS: readonly unknown[] = ['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'];
const ERROR_DETAILS: readonly unknown[] = ['code', 'class', 'message'];
const WHEN_RUNNING: readonly unknown[] = ['merge', 'rerun'];

type Check = (value: unknown, options: JobOptions<PayloadSchema>) => string | undefined;

const CHECKS: Readonly<Record<keyof JobOptions<PayloadSchema>, Check>> = {
  backoff: (value) => problemOf(() => new Backoff(value as BackoffOptions)),
  classifyError: (value) => (typeof value === 'function' ? undefined : 'must be a function'),
  codec: (value) => (isCodec(value) ? undefined : 'must have the functions encode and decode'),
  concurrency: (value) => (isWithin(value, 1, 10_000) ? undefined : 'must be a whole number from 1 to 10000'),
  errorDetail: (value) => oneOf(value, ERROR_DETAILS),
  groupCommit: problemOfGroupCommit,
  isolation: (value) => oneOf(value, ISOLATION_LEVELS),
  maxAttempts: (value) =>
    value === 'unlimited' || isWithin(value, 1, 100)
      ? undefined
      : "must be a whole number from 1 to 100, or 'unlimited'",
  maxDefer: (value) => problemOf(() => parseDuration(value as string)),
  onEnd: problemOfOnEnd,
  payload: (value) => (isPayloadSchema(value) ? undefined : 'must be a Standard Schema, or type<P>()'),
  priority: (value) => (isWithin(value, 0, 9) ? undefined : 'must be a whole number from 0 (first) to 9 (last)'),
  retention: problemOfRetention,
  timeout: (value) => problemOf(() => positiveDuration(value as string)),
  upcasts: (value, { version = 1 }) => problemOfUpcasts(value, version),
  version: (value) => (isWithin(value, 1, MAX_VERSION) ? undefined : `must be a whole number from 1 to ${MAX_VERSION}`),
  whenRunning: (value) => oneOf(value, WHEN_RUNNING),
};

/** checkJobOptions answers everything that is wrong with a kind and its options. */
export function checkJobOptions(kind: unknown, options: unknown): string[] {
  const problems: string[] = [];
  if (!isKind(kind))
    problems.push(`the kind must be lower-case words joined by dots, at most ${MAX_KIND_LENGTH} characters`);
  if (typeof options !== 'object' || options === null) return [...problems, 'the options must be an object'];
  const given: Record<string, unknown> = { payload: undefined, ...options };
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(CHECKS, name)) problems.push(`${name} is no option of a job`);
    else if (value !== undefined || name === 'payload') {
      const problem = CHECKS[name as keyof typeof CHECKS](value, given as unknown as JobOptions<PayloadSchema>);
      if (problem) problems.push(`${name} ${problem}`);
    }
  }
  return problems;
}

function isCodec(value: unknown): boolean {
  const codec = value as Partial<PayloadCodec> | null;
  return (
    typeof codec === 'object' &&
    codec !== null &&
    typeof codec.encode === 'function' &&
    typeof codec.decode === 'function'
  );
}

function isWithin(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

function oneOf(value: unknown, allowed: readonly unknown[]): string | undefined {
  return allowed.includes(value) ? undefined : `must be one of ${allowed.join(', ')}`;
}

/** positiveDuration answers a duration above zero, in milliseconds. Throws for any other. */
export function positiveDuration(value: string): number {
  const ms = parseDuration(value);
  if (ms <= 0) throw new RangeError('it is zero');
  return ms;
}

function problemOf(attempt: () => unknown): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return `is refused: ${error instanceof Error ? error.message.replace(/\.$/, '') : String(error)}`;
  }
}

function problemOfUpcasts(upcasts: unknown, version: number): string | undefined {
  if (typeof upcasts !== 'object' || upcasts === null) return 'must be an object of functions';
  const from = Object.keys(upcasts)
    .map(Number)
    .sort((a, b) => a - b);
  if (Object.values(upcasts).some((upcast) => typeof upcast !== 'function')) return 'must be functions';
  const gapless = from.every(
    (step, index) => Number.isInteger(step) && step >= 1 && step === version - from.length + index,
  );
  return gapless
    ? undefined
    : `must start from whole versions without a gap up to ${version - 1}, the one before this version`;
}
