import type { BackoffOptions } from '@holdfast/kernel';
import { positiveDuration } from '../domain/definition.options.js';
import type { ErrorDetail } from '../domain/failure.js';
import type { ClassifyError } from '../domain/retry.policy.js';
import { optionText } from '../domain/text.js';
import { InvalidRunnerOptionsError } from '../errors/invalid-runner-options.error.js';
import { shapeProblems } from './options.shape.js';

/** KindOverrides change a definition for this deployment. */
export interface KindOverrides {
  readonly backoff?: BackoffOptions;
  /** concurrency is the most runs of the kind at once in this process (Q15). Default: the definition's, else the runner's slots. */
  readonly concurrency?: number;
  /** maxAttempts lowers what a job was enqueued with; it never raises it. */
  readonly maxAttempts?: number;
  /** timeout of one attempt, such as `'30s'`. Default: the definition's. */
  readonly timeout?: string;
}

/** LeaseOptions say how long leases are. */
export interface LeaseOptions {
  /** attachedMarginMs is how much longer than its timeout an attached run's lease is. Default 15 000. */
  readonly attachedMarginMs?: number;
  /** boundMarginMs is how much longer than its timeout the server lets an attached transaction live (R1). Default 5 000. */
  readonly boundMarginMs?: number;
  /** detachedMs is a detached run's lease, renewed every third of it (R7). Default 60 000. */
  readonly detachedMs?: number;
}

/** RunnerOptions say what a runner runs and how. */
export interface RunnerOptions {
  /** abortWaitMs is how long a run that a shutdown aborted may take to return before its job is given back. Default 1 000. */
  readonly abortWaitMs?: number;
  /** cancelEveryMs is how often a process in which something runs asks whether it is to be cancelled (R16). Default 1 000. */
  readonly cancelEveryMs?: number;
  /** classifyError sorts errors that carry no class and that their definition's hook leaves open (R10). Default none. */
  readonly classifyError?: ClassifyError;
  /** errorDetail is how much of an error the row keeps (R8). Default `'class'`. */
  readonly errorDetail?: ErrorDetail;
  /** except leaves out kinds that have a handler here. Default none. Not together with `only`. */
  readonly except?: readonly string[];
  /** graceMs is how long a drain lets running jobs go on. Default 20 000. */
  readonly graceMs?: number;
  /** intakeGapMs is the least time between two intakes of a busy process. Default 50. */
  readonly intakeGapMs?: number;
  readonly kinds?: Readonly<Record<string, KindOverrides>>;
  /** leases say how long leases are. Default as LeaseOptions tells. */
  readonly leases?: LeaseOptions;
  /** only runs these kinds and no others that have a handler here. Default every kind that has one. */
  readonly only?: readonly string[];
  /** overrunMs is how long after its abort a handler that goes on is reported (R6). Default 5 000. */
  readonly overrunMs?: number;
  /** owner names this process on its leases. Default: host name and process id. */
  readonly owner?: string;
  /** pollMs is the longest time between two looks, jitter included; every other one also looks for leases that ran out. Default 2 000. */
  readonly pollMs?: number;
  /** quiesceMs is how long claiming stops for the process to become idle when suspects are due (Q12). Default 30 000. */
  readonly quiesceMs?: number;
  /** slots is how many jobs run at once in this process. Default 10. */
  readonly slots?: number;
  /** tenancy names the setting that carries the tenant into a job's transactions (T1); left out, there is none. */
  readonly tenancy?: { readonly setting: string } | 'off';
}

/** KindOptions are the overrides of a kind, checked. */
export interface KindOptions {
  readonly backoff: BackoffOptions | undefined;
  readonly concurrency: number | undefined;
  readonly maxAttempts: number | undefined;
  readonly timeoutMs: number | undefined;
}

/** ResolvedRunnerOptions are the options with their defaults, checked. */
export interface ResolvedRunnerOptions {
  readonly abortWaitMs: number;
  readonly cancelEveryMs: number;
  readonly classifyError: ClassifyError | undefined;
  readonly errorDetail: ErrorDetail;
  readonly graceMs: number;
  readonly handles: (kind: string) => boolean;
  readonly intakeGapMs: number;
  readonly kindOptions: (kind: string) => KindOptions;
  readonly leases: Required<LeaseOptions>;
  readonly overrunMs: number;
  readonly owner: string;
  readonly pollMs: number;
  readonly quiesceMs: number;
  readonly slots: number;
  readonly tenancySetting: string | undefined;
}

const MAX_SLOTS = 10_000;
const TEN_YEARS_MS = 315_360_000_000;

/** resolveRunnerOptions fills in the defaults. Throws InvalidRunnerOptionsError with every problem at once. */
export function resolveRunnerOptions(options: RunnerOptions, defaultOwner: string): ResolvedRunnerOptions {
  const problems = shapeProblems(options);
  const ms = (name: keyof RunnerOptions & keyof ResolvedRunnerOptions, fallback: number) =>
    durationOf(name, options[name] as number | undefined, fallback, problems);
  const slots = options.slots ?? 10;
  if (!isCount(slots, MAX_SLOTS))
    problems.push(`slots must be a whole number from 1 to ${MAX_SLOTS}, not ${optionText(slots)}`);
  if (options.only && options.except) problems.push('only and except exclude each other');
  const kinds = new Map(
    Object.entries(options.kinds ?? {}).map(([kind, given]) => [kind, kindOptions(kind, given, problems)]),
  );
  const plain: KindOptions = {
    backoff: undefined,
    concurrency: undefined,
    maxAttempts: undefined,
    timeoutMs: undefined,
  };
  const resolved: ResolvedRunnerOptions = {
    abortWaitMs: ms('abortWaitMs', 1_000),
    cancelEveryMs: Math.max(10, ms('cancelEveryMs', 1_000)),
    classifyError: options.classifyError,
    errorDetail: options.errorDetail ?? 'class',
    graceMs: ms('graceMs', 20_000),
    handles: (kind) => options.only?.includes(kind) ?? !options.except?.includes(kind),
    intakeGapMs: ms('intakeGapMs', 50),
    kindOptions: (kind) => kinds.get(kind) ?? plain,
    leases: leaseOptions(options.leases ?? {}, problems),
    overrunMs: ms('overrunMs', 5_000),
    owner: options.owner ?? defaultOwner,
    pollMs: Math.max(10, ms('pollMs', 2_000)),
    quiesceMs: ms('quiesceMs', 30_000),
    slots,
    tenancySetting: options.tenancy === 'off' ? undefined : options.tenancy?.setting,
  };
  if (problems.length > 0) throw new InvalidRunnerOptionsError(problems);
  return Object.freeze(resolved);
}

function durationOf(name: string, value: number | undefined, fallback: number, problems: string[]): number {
  if (value === undefined) return fallback;
  if (typeof value === 'number' && value >= 0 && value <= TEN_YEARS_MS) return value;
  problems.push(`${name} must be a number of milliseconds from 0 to ten years, not ${optionText(value)}`);
  return fallback;
}

function isCount(value: unknown, max: number): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= max;
}

function kindOptions(kind: string, overrides: KindOverrides | null, problems: string[]): KindOptions {
  const given = overrides ?? {};
  const { concurrency, maxAttempts } = given;
  if (concurrency !== undefined && !isCount(concurrency, MAX_SLOTS)) {
    problems.push(
      `kinds.${kind}.concurrency must be a whole number from 1 to ${MAX_SLOTS}, not ${optionText(concurrency)}`,
    );
  }
  if (maxAttempts !== undefined && !isCount(maxAttempts, 100))
    problems.push(`kinds.${kind}.maxAttempts must be from 1 to 100, not ${optionText(maxAttempts)}`);
  let timeoutMs: number | undefined;
  try {
    timeoutMs = given.timeout === undefined ? undefined : positiveDuration(given.timeout);
  } catch (error) {
    problems.push(`kinds.${kind}.timeout: ${(error as Error).message}`);
  }
  return { backoff: given.backoff, concurrency, maxAttempts, timeoutMs };
}

function leaseOptions(given: LeaseOptions, problems: string[]): Required<LeaseOptions> {
  const leases = {
    attachedMarginMs: durationOf('leases.attachedMarginMs', given.attachedMarginMs, 15_000, problems),
    boundMarginMs: durationOf('leases.boundMarginMs', given.boundMarginMs, 5_000, problems),
    detachedMs: durationOf('leases.detachedMs', given.detachedMs, 60_000, problems),
  };
  if (leases.boundMarginMs >= leases.attachedMarginMs)
    problems.push('leases.boundMarginMs must be shorter than leases.attachedMarginMs');
  if (leases.detachedMs < 300) problems.push('leases.detachedMs must be at least 300');
  return leases;
}
