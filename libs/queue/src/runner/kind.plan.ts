import type { BackoffOptions } from '@holdfast/kernel';
import type { GroupCommit } from '../domain/group-commit.js';
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
  const attached = entry.mode === 'attached';
  const concurrency = Math.min(options.slots, overrides.concurrency ?? definition.concurrency ?? options.slots);
  return {
    backoff: overrides.backoff ?? definition.backoff,
    concurrency,
    entry,
    group: attached ? groupPlan(definition.groupCommit, concurrency) : undefined,
    interceptors,
    kind: definition.kind,
    leaseMs: attached ? timeoutMs + attachedMarginMs : detachedMs,
    maxAttempts: overrides.maxAttempts,
    startNeedsMs: attached ? timeoutMs + boundMarginMs : (detachedMs * 2) / 3,
    timeoutMs,
  };
}

/** A group of one is none. Half of what runs at once is in groups, while the other half is claimed. */
function groupPlan(group: GroupCommit | null, concurrency: number): GroupPlan | undefined {
  if (!group || group.size < 2 || concurrency < 2) return undefined;
  return { ...group, lanes: Math.max(1, Math.floor(concurrency / group.size / 2)) };
}
