import { waitFor } from '@holdfast/testing';

/** JobAnswer is what the api tells of a job. */
export interface JobAnswer {
  readonly attempts: number;
  readonly error: string | null;
  readonly outcome: string | null;
  readonly refusal: { readonly code: string; readonly params: Record<string, unknown> } | null;
  readonly state: string;
}

/** ApiAnswer is what a request got. */
export interface ApiAnswer {
  readonly body: unknown;
  readonly status: number;
  readonly type: string | null;
}

/** PostedEvent is an event as a test sends it. */
export interface PostedEvent {
  readonly id: string;
  readonly payload: object;
  readonly type: string;
}

/** HubTenant is a tenant of the hub: it speaks to the api with its own key. */
export class HubTenant {
  constructor(
    private readonly api: string,
    private readonly apiKey: string,
    readonly id: string,
  ) {}

  /** job answers the job as the api tells of it. */
  async job(id: string): Promise<JobAnswer> {
    return (await this.request('GET', `/jobs/${id}`)).body as JobAnswer;
  }

  /** jobUntil answers the job as soon as it is as it should be. */
  async jobUntil(id: string, what: string, is: (job: JobAnswer) => boolean): Promise<JobAnswer> {
    return waitFor(
      async () => {
        const job = await this.job(id);
        return is(job) ? job : undefined;
      },
      { deadlineMs: 60_000, what: `the job to be ${what}` },
    );
  }

  /** post sends an event and answers the id of its one job of a kind. */
  async post(event: PostedEvent, kind: string): Promise<string> {
    const [id, ...others] = await this.postAll(event, kind);
    if (id === undefined || others.length > 0) throw new Error(`The event led to ${others.length} jobs more than one.`);
    return id;
  }

  /** postAll sends an event and answers the ids of its jobs of a kind. */
  async postAll(event: PostedEvent, kind: string): Promise<string[]> {
    const { body } = await this.request('POST', '/events', event);
    return (body as { jobs: { id: string; kind: string }[] }).jobs
      .filter((job) => job.kind === kind)
      .map(({ id }) => id);
  }

  async request(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
    const headers = { Authorization: `Bearer ${this.apiKey}` };
    const sent =
      body === undefined
        ? { headers }
        : { body: JSON.stringify(body), headers: { ...headers, 'Content-Type': 'application/json' } };
    const response = await fetch(`${this.api}${path}`, { ...sent, method });
    const text = await response.text();
    return {
      body: text === '' ? undefined : JSON.parse(text),
      status: response.status,
      type: response.headers.get('content-type'),
    };
  }

  /** subscribe answers the new subscription's id and its secret. */
  async subscribe(url: string, ...eventTypes: string[]): Promise<{ id: string; secret: string }> {
    const answer = await this.request('POST', '/subscriptions', { eventTypes, url });
    if (answer.status !== 201) throw new Error(`The subscription was answered ${answer.status}.`);
    return answer.body as { id: string; secret: string };
  }
}
