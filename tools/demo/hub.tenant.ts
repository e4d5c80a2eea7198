import type { SubscriptionPlan, TenantPlan } from './demo.plan.js';
import type { ReceiverEndpoint } from './receiver.endpoint.js';
import type { SampleEvent } from './sample.events.js';

/** HubSubscription is a subscription as it was made, and where its deliveries arrive. */
export interface HubSubscription {
  /** arrivedAtPause is how many deliveries had arrived when it was paused, no worker running; undefined for one that never was. */
  arrivedAtPause?: number;
  readonly endpoint: ReceiverEndpoint;
  readonly id: string;
  readonly plan: SubscriptionPlan;
}

/** Accepted are the events that got a 202, each with the first of its jobs. */
export type Accepted = Map<string, string>;

/** HubTenant is a tenant's side of the hub: it speaks to the api with its own key. */
export class HubTenant {
  readonly accepted: Accepted = new Map();
  readonly subscriptions: HubSubscription[] = [];

  private constructor(
    private readonly api: string,
    private readonly apiKey: string,
    readonly id: string,
    readonly plan: TenantPlan,
  ) {}

  /** create makes the tenant, as the operator of the hub does. */
  static async create(api: string, operatorToken: string, plan: TenantPlan): Promise<HubTenant> {
    const tenant = { id: plan.name, name: plan.name, retentionDays: 30 };
    const { apiKey, id } = await answerOf(`${api}/tenants`, jsonPost(operatorToken, tenant));
    return new HubTenant(api, String(apiKey), String(id), plan);
  }

  /** pause stops a subscription's deliveries, also of what is queued. */
  async pause(subscription: HubSubscription): Promise<void> {
    const asked = { ...jsonPost(this.apiKey, { paused: true }), method: 'PATCH' };
    await answerOf(`${this.api}/subscriptions/${subscription.id}`, asked);
    subscription.arrivedAtPause = subscription.endpoint.distinct;
  }

  async post(event: SampleEvent): Promise<void> {
    const { jobs } = (await answerOf(`${this.api}/events`, jsonPost(this.apiKey, event))) as { jobs: { id: string }[] };
    this.accepted.set(event.id, jobs[0]?.id ?? '');
  }

  /** shown is how many of a tenant's things this one gets to see; its own, if it asks for them: another's, none. */
  async shown(of: HubTenant): Promise<number> {
    const statuses = await Promise.all(of.routes().map((route) => this.status(route)));
    return statuses.filter((status) => status !== 404).length;
  }

  async subscribe(plan: SubscriptionPlan, endpoint: ReceiverEndpoint, url: string): Promise<void> {
    const asked = jsonPost(this.apiKey, { eventTypes: plan.types, url });
    const { id, secret } = await answerOf(`${this.api}/subscriptions`, asked);
    endpoint.secret = String(secret);
    this.subscriptions.push({ endpoint, id: String(id), plan });
  }

  /** routes are everything of this tenant that has an address of its own. */
  routes(): string[] {
    // The event whose id every tenant uses is each one's own.
    const [event, job] = [...this.accepted].at(-1) ?? ['', ''];
    const subscriptions = this.subscriptions.map(({ id }) => `/subscriptions/${id}`);
    return [`/events/${event}`, `/events/${event}/deliveries`, `/jobs/${job}`, ...subscriptions];
  }

  private async status(route: string): Promise<number> {
    const response = await fetch(`${this.api}${route}`, { headers: { Authorization: `Bearer ${this.apiKey}` } });
    await response.arrayBuffer();
    return response.status;
  }
}

function jsonPost(token: string, body: unknown): RequestInit {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  return { body: JSON.stringify(body), headers, method: 'POST' };
}

async function answerOf(url: string, init: RequestInit): Promise<Record<string, unknown>> {
  const response = await fetch(url, init);
  const body = (await response.json()) as Record<string, unknown>;
  if (response.ok) return body;
  throw new Error(`${init.method} ${new URL(url).pathname} was answered ${response.status}: ${JSON.stringify(body)}`);
}
