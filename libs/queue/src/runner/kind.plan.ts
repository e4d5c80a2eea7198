import type { BackoffOptions } from '@holdfast/kernel';
import type { GroupCommit } from '../domain/group-commit.js';
import { InvalidInterceptorError } from '../errors/invalid-interceptor.error.js';
import type { HandlerEntry } from '../handlers/handler.entry.js';
import type { InterceptorEntry } from '../handlers/job-interceptor.registry.js';
import type { ResolvedRunnerOptions } from './runner.options.js';

/** KindPlan is how this process runs a kind: its handler and what stands around it, and the definition with the deployment's overrides laid over it. */
export interface KindPlan {
  readonly backoff: BackoffOptions;
  readonly concurrency: number;
  readonly entry: HandlerEntry;
  /** group is set where runs share transactions (R21). */
  readonly group: GroupPlan | undefined;
  /** interceptors stand around every call of the handler, the outermost first (R20). */
  readonly interceptors: readonly InterceptorEntry[];
  readonly kind: string;
  /** leaseMs: attached, longer than the timeout by a margin; detached, short and renewed (Q13). */
  readonly leaseMs: number;
  /** maxAttempts lowers what a job was enqueued with, where it is set. */
  readonly maxAttempts: number | undefined;
  /** startNeedsMs is how much of its lease must be left when the handler starts (Q13). */
  readonly startNeedsMs: number;
  readonly timeoutMs: number;
}

/** GroupPlan is how runs of a kind share transactions; lanes are the groups at once, each with a connection. */
export interface GroupPlan extends GroupCommit {
  readonly lanes: number;
}

/** GroupedPlan is a plan of which runs share transactions. */
export type GroupedPlan = KindPlan & { readonly group: GroupPlan };

export function isGrouped(plan: KindPlan): plan is GroupedPlan {
  return plan.group !== undefined;
}

/** planKind lays the deployment's overrides over a definition. */
export function planKind(
  entry: HandlerEntry,
  options: ResolvedRunnerOptions,
  interceptors: readonly InterceptorEntry[] = [],
): KindPlan {
  const { definition } = entry;
  const overrides = options.kindOptions(definition.kind);
  const timeoutMs = overrides.timeoutMs ?? definition.timeoutMs;
  const { attachedMarginMs, boundMarginMs, detachedMs } = options.leases;
  const attached = entry.mode !== 'detached';
  const concurrency = Math.min(options.slots, overrides.concurrency ?? definition.concurrency ?? options.slots);
  return {
    backoff: overrides.backoff ?? definition.backoff,
    concurrency,
    entry,
    group: groupPlan(entry, concurrency),
    interceptors,
    kind: definition.kind,
    leaseMs: attached ? timeoutMs + attachedMarginMs : detachedMs,
    maxAttempts: overrides.maxAttempts,
    startNeedsMs: attached ? timeoutMs + boundMarginMs : (detachedMs * 2) / 3,
    timeoutMs,
  };
}

/** checkBatches throws InvalidInterceptorError where an interceptor stands around batches that it does not know: they would pass it by (R20). */
export function checkBatches({ entry, interceptors, kind }: KindPlan): void {
  if (entry.mode !== 'batch') return;
  const blind = interceptors.find(({ interceptor }) => typeof interceptor.interceptBatch !== 'function');
  if (blind)
    throw new InvalidInterceptorError(
      blind.source,
      `it has no interceptBatch(call, next), and the handler of ${kind} runs batches: give it one, or leave the kind out with its option only`,
    );
}

/** narrowBatches answers a warning for each kind of which less may run at once than a batch could hold. */
export function narrowBatches(plans: readonly KindPlan[]): string[] {
  return plans
    .filter(({ concurrency, entry }) => entry.mode === 'batch' && entry.batchSize > concurrency)
    .map(
      ({ concurrency, entry, group, kind }) =>
        `Batches of ${kind} hold ${concurrency} jobs at most and not ${group?.size}: only so many of them may run here at once. Raise slots, or the concurrency of ${entry.definition.kind}.`,
    );
}

/** Half of what runs at once is in groups, while the other half is claimed. A group of one is none; a batch of one is one. */
function groupPlan(entry: HandlerEntry, concurrency: number): GroupPlan | undefined {
  const { groupCommit } = entry.definition;
  const group = entry.mode === 'batch' ? { delayMs: 0, size: entry.batchSize } : groupCommit;
  if (!group || entry.mode === 'detached' || (entry.mode === 'attached' && group.size < 2)) return undefined;
  return { ...group, lanes: Math.max(1, Math.floor(concurrency / group.size / 2)) };
}
