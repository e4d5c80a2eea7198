import { spawnTs, type SpawnedProcess, type TestDatabase } from '@holdfast/testing';
import { HubTenant } from './hub.tenant.js';

const OPERATOR_TOKEN = 'the-operator-of-the-tests-and-nobody-else';

/** HubProcesses are an api and workers on one database, each a process of its own, as they are deployed. */
export class HubProcesses {
  readonly started: SpawnedProcess[] = [];
  private tenants = 0;
  private url = '';
  private readonly workers = new Set<SpawnedProcess>();

  private constructor(
    /** databaseUrl is that of the role the apps connect as. */
    readonly databaseUrl: string,
    private readonly env: Record<string, string>,
  ) {}

  /** on answers the processes of a database, with a role that owns it and does not bypass row level security. */
  static async on(database: TestDatabase, env: Record<string, string> = {}): Promise<HubProcesses> {
    const { url } = await database.createRole({ owner: true });
    return new HubProcesses(url, env);
  }

  /** operator speaks to the api with the operator's token. */
  get operator(): HubTenant {
    return new HubTenant(this.url, OPERATOR_TOKEN, '');
  }

  async startApi(): Promise<void> {
    const line = await this.spawn('apps/api/src/main.ts', { OPERATOR_TOKEN }).line('Listening on http');
    this.url = urlIn(line);
  }

  /** spawnWorker answers a worker as soon as its process is there. */
  spawnWorker(env: Record<string, string> = {}): SpawnedProcess {
    const worker = this.spawn('apps/worker/src/main.ts', env);
    this.workers.add(worker);
    return worker;
  }

  /** startWorker answers a worker that is up. */
  async startWorker(env: Record<string, string> = {}): Promise<SpawnedProcess> {
    const worker = this.spawnWorker(env);
    await worker.line('Health on http');
    return worker;
  }

  async stop(): Promise<void> {
    await Promise.all(this.started.filter((each) => !each.exited).map((each) => each.stop()));
  }

  /** stopWorkers stops the workers that run, and leaves the api. */
  async stopWorkers(): Promise<void> {
    await Promise.all([...this.workers].filter((each) => !each.exited).map((each) => each.stop()));
  }

  /** tenant answers a new tenant. */
  async tenant(name = `tenant-${(this.tenants += 1)}`): Promise<HubTenant> {
    const answer = await this.operator.request('POST', '/tenants', { id: name, name, retentionDays: 30 });
    if (answer.status !== 201) throw new Error(`The tenant was answered ${answer.status}.`);
    const { apiKey, id } = answer.body as { apiKey: string; id: string };
    return new HubTenant(this.url, apiKey, id);
  }

  private spawn(file: string, env: Record<string, string>): SpawnedProcess {
    const settings = { HOST: '127.0.0.1', LEASE: '4s', POLL: '200ms', PORT: '0' };
    const child = spawnTs(file, { env: { ...settings, DATABASE_URL: this.databaseUrl, ...this.env, ...env } });
    this.started.push(child);
    return child;
  }
}

/** A log may be coloured: the URL ends where the letters of one do. */
function urlIn(line: string): string {
  return /http:[\w.:/]+/.exec(line)?.[0] ?? '';
}
