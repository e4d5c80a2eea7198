import type { JobStore, ClaimedJob, ClaimOrder, IntakeResult, ReapResult } from '../../ports/job-store.js';

const NOTHING_TAKEN_IN: IntakeResult = { created: 0, merged: 0, more: false, waiting: 0 };
const NOTHING_REAPED: ReapResult = { cancelled: [], deadLettered: [], returned: [] };

/** JobFeed is what a runner of the kit finds when it looks for work: the jobs that the kit has claimed, and no others. */
export class JobFeed {
  private waiting: ClaimedJob[] = [];

  /** isEmpty tells that the runner has taken everything. */
  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  give(jobs: readonly ClaimedJob[]): void {
    this.waiting.push(...jobs);
  }

  /** storeOn answers the store with this feed in place of its claims, and with `changes` laid over it; everything else is the store's own. */
  storeOn(store: JobStore, changes: Partial<JobStore> = {}): JobStore {
    const own: Partial<JobStore> = {
      claim: (order) => Promise.resolve(this.take(order)),
      claimSuspect: () => Promise.resolve(undefined),
      hasWork: () => Promise.resolve(!this.isEmpty),
      intake: () => Promise.resolve(NOTHING_TAKEN_IN),
      reap: () => Promise.resolve(NOTHING_REAPED),
      suspectsDue: () => Promise.resolve(0),
      unknownKinds: () => Promise.resolve([]),
      ...changes,
    };
    return new Proxy(store, {
      get: (target, key) => {
        if (Object.hasOwn(own, key)) return own[key as keyof JobStore];
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  }

  private take({ limit }: ClaimOrder): ClaimedJob[] {
    return this.waiting.splice(0, limit);
  }
}
