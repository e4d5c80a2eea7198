import type { DrainedJob } from './drained.job.js';
import type { EnqueuedJob } from './enqueued.job.js';
import { KitError } from './kit.errors.js';

/** DrainError says that a drain did not come to its end: what is left, and what has been run until then. */
export class DrainError extends KitError {
  constructor(
    bound: string,
    readonly ended: readonly DrainedJob[],
    readonly left: readonly EnqueuedJob[],
    options?: ErrorOptions,
  ) {
    super(
      `Not everything was run ${bound}: ${ended.length} runs have ended (${counted(ended, ({ kind, result }) => `${kind} ${result}`)}), left are ${left.length} jobs (${counted(left, ({ kind, state }) => `${kind} ${state}`)}).`,
      options,
    );
  }
}

function counted<T>(items: readonly T[], nameOf: (item: T) => string): string {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(nameOf(item), (counts.get(nameOf(item)) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${count} × ${name}`).join(', ') || 'none';
}
