import type { EnqueuedJob } from './enqueued.job.js';
import { KitError } from './kit.errors.js';
import { shown } from './payload.match.js';

/** EnqueuedFinding is what was found in place of what was expected. */
export interface EnqueuedFinding {
  /** elsewhere are the jobs of other kinds, looked at where there is none of this one. */
  readonly elsewhere: readonly EnqueuedJob[];
  readonly expected: unknown;
  readonly found: readonly EnqueuedJob[];
  readonly kind: string;
  /** others are jobs of the kind that do not match, with where they differ. */
  readonly others: readonly { readonly job: EnqueuedJob; readonly differences: readonly string[] }[];
  readonly times: number | undefined;
}

const MAX_LISTED = 10;

/** NotEnqueuedError is the failed expectation of `expectEnqueued`, with what is there. */
export class NotEnqueuedError extends KitError {
  constructor(readonly finding: EnqueuedFinding) {
    super(messageOf(finding));
  }
}

function messageOf({ elsewhere, expected, found, kind, others, times }: EnqueuedFinding): string {
  const wanted = times === undefined ? 'at least one job' : `${times} ${times === 1 ? 'job' : 'jobs'}`;
  const like =
    expected === undefined
      ? ''
      : typeof expected === 'function'
        ? ' for which the function answers true'
        : ` with ${shown(expected)}`;
  const lines = [`Expected ${wanted} of ${kind}${like}, found ${found.length}.`];
  if (found.length > 0) lines.push('Those that match:', ...listed(found, line));
  if (others.length > 0)
    lines.push(
      `Others of ${kind}:`,
      ...listed(others, (other) => [...line(other.job), ...other.differences.map((each) => `    ${each}`)]),
    );
  if (found.length + others.length === 0) lines.push(`There is none of ${kind}. ${kindsIn(elsewhere)}`);
  return lines.join('\n');
}

function kindsIn(jobs: readonly EnqueuedJob[]): string {
  if (jobs.length === 0) return 'Nothing at all has been enqueued; what an open transaction has, only { in: tx } sees.';
  return `What has been enqueued: ${[...new Set(jobs.map(({ kind }) => kind))].sort().join(', ')}.`;
}

function line({ dedupeKey, id, payload, state, tenantId }: EnqueuedJob): string[] {
  const key = dedupeKey === null ? '' : ` key ${shown(dedupeKey)}`;
  return [`  ${id} ${state}${key}${tenantId === null ? '' : ` tenant ${tenantId}`} ${shown(payload)}`];
}

function listed<T>(items: readonly T[], lines: (item: T) => string[]): string[] {
  const more = items.length > MAX_LISTED ? [`  … and ${items.length - MAX_LISTED} more`] : [];
  return [...items.slice(0, MAX_LISTED).flatMap(lines), ...more];
}
