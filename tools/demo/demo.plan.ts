import { sampleEvents, type SampleEvent } from './sample.events.js';

/** Manner is what becomes of a subscription on the way: nothing, its receiver answers 503 at first, or it is paused in the middle. */
export type Manner = 'steady' | 'fails at first' | 'paused in the middle';

/** SubscriptionPlan is a subscription as the demo makes it. */
export interface SubscriptionPlan {
  readonly manner: Manner;
  readonly name: string;
  readonly types: readonly string[];
}

/** TenantPlan is a tenant, what it subscribes to, and what it posts. */
export interface TenantPlan {
  readonly events: readonly SampleEvent[];
  readonly name: string;
  readonly subscriptions: readonly SubscriptionPlan[];
}

/** SAMPLES is how many payloads the package holds; another number means another package. */
export const SAMPLES = 329;
/** FAILURES is how often a receiver that fails at first does so. */
export const FAILURES = 8;
/** Every tenant posts an event under this id: ids are a tenant's own. */
export const SHARED_ID = 'demo-the-first';

const steady = (name: string, ...types: string[]): SubscriptionPlan => ({ manner: 'steady', name, types });

const SUBSCRIPTIONS: Readonly<Record<string, readonly SubscriptionPlan[]>> = {
  acme: [
    steady('everything', '*'),
    steady('issues', 'issues.*', 'issue_comment.*'),
    steady('openings', 'issues.opened', 'pull_request.opened', 'push'),
    steady('repositories', 'repository.*', 'fork', 'create', 'delete'),
  ],
  globex: [
    { manner: 'paused in the middle', name: 'everything', types: ['*'] },
    steady('checks', 'check_run.*', 'check_suite.*', 'workflow_job.*', 'workflow_run.*'),
    steady('discussions', 'discussion.*', 'discussion_comment.*', 'issues.*'),
  ],
  initech: [
    { manner: 'fails at first', name: 'everything', types: ['*'] },
    steady('pulls', 'pull_request.*', 'pull_request_review.*', 'push'),
    steady('issues', 'issues.*', 'issues.labeled'),
  ],
};

/** tenantPlans deals the samples out to the tenants, in turn. */
export function tenantPlans(): TenantPlan[] {
  const names = Object.keys(SUBSCRIPTIONS);
  const samples = sampleEvents();
  return names.map((name, turn) => {
    const [first, ...rest] = samples.filter((_, position) => position % names.length === turn);
    return {
      events: first ? [{ ...first, id: SHARED_ID }, ...rest] : [],
      name,
      subscriptions: SUBSCRIPTIONS[name] ?? [],
    };
  });
}

/** takes tells whether a subscription takes events of a type: by the hub's rules, but not by its code. */
export function takes({ types }: SubscriptionPlan, type: string): boolean {
  return types.some(
    (each) => each === '*' || each === type || (each.endsWith('.*') && type.startsWith(each.slice(0, -1))),
  );
}

/** expectedDeliveries is how many of its tenant's events a subscription takes. */
export function expectedDeliveries(tenant: TenantPlan, subscription: SubscriptionPlan): number {
  return tenant.events.filter(({ type }) => takes(subscription, type)).length;
}
