import { spawnTs, waitFor, type SpawnedProcess } from '@holdfast/testing';

/** JobAnswer is what the api tells of a job. */
export interface JobAnswer {
  readonly attempts: number;
  readonly error: string | null;
  readonly outcome: string | null;
  readonly state: string;
}

/** HubProcesses are an api and workers on one database, each a process of its own, as they are deployed. */
export class HubProcesses {
  readonly started: SpawnedProcess[] = [];
  private url = '';

  constructor(private readonly env: Record<string, string>) {}

  /** job answers the job as the api tells of it. */
  async job(id: string): Promise<JobAnswer> {
    const response = await fetch(`${this.url}/jobs/${id}`);
    return (await response.json()) as JobAnswer;
  }

  /** jobUntil answers the job as soon as it is as it should be. */
  async jobUntil(id: string, what: string, is: (job: JobAnswer) => boolean): Promise<JobAnswer> {
    return waitFor(
      async () => {
        const job = await this.job(id);
        return is(job) ? job : undefined;
      },
      { deadlineMs: 30_000, what: `the job to be ${what}` },
    );
  }

  /** post sends an event and answers the id of its job of a kind. */
  async post(event: { id: string; payload: object; type: string }, kind: string): Promise<string> {
    const init = { body: JSON.stringify(event), headers: { 'Content-Type': 'application/json' }, method: 'POST' };
    const response = await fetch(`${this.url}/events`, init);
    const { jobs } = (await response.json()) as { jobs: { id: string; kind: string }[] };
    const job = jobs.find((each) => each.kind === kind);
    if (!job) throw new Error(`The event led to no ${kind}.`);
    return job.id;
  }

  async startApi(): Promise<void> {
    const line = await this.spawn('apps/api/src/main.ts', {}).line('Listening on http');
    this.url = urlIn(line);
  }

  async startWorker(env: Record<string, string> = {}): Promise<SpawnedProcess> {
    const worker = this.spawn('apps/worker/src/main.ts', env);
    await worker.line('Health on http');
    return worker;
  }

  /** statistics answers what the api tells of a repository. */
  async statistics(repository: string): Promise<{ body: unknown; status: number; type: string | null }> {
    const response = await fetch(`${this.url}/repositories/${repository}/statistics`);
    return { body: await response.json(), status: response.status, type: response.headers.get('content-type') };
  }

  async stop(): Promise<void> {
    await Promise.all(this.started.filter((each) => !each.exited).map((each) => each.stop()));
  }

  private spawn(file: string, env: Record<string, string>): SpawnedProcess {
    const settings = { HOST: '127.0.0.1', LEASE: '4s', POLL: '200ms', PORT: '0' };
    const child = spawnTs(file, { env: { ...settings, ...this.env, ...env } });
    this.started.push(child);
    return child;
  }
}

/** A log may be coloured: the URL ends where the letters of one do. */
function urlIn(line: string): string {
  return /http:[\w.:/]+/.exec(line)?.[0] ?? '';
}
