import { randomBytes } from 'node:crypto';
import { spawnTs, type SpawnedProcess } from '@holdfast/testing';
import { DemoDatabase } from './demo.database.js';
import { DemoLedger } from './demo.ledger.js';
import { FAILURES, type TenantPlan } from './demo.plan.js';
import { HubTenant } from './hub.tenant.js';
import { ReceiverEndpoint } from './receiver.endpoint.js';
import { WebhookReceiver } from './webhook.receiver.js';

/** Short, so that what a killed worker held is taken over within seconds. */
const LEASE = '6s';
const STOP_MS = 15_000;

/** DemoStack is everything that runs: the database, the receivers, the api and one worker at a time, the last two as processes. */
export class DemoStack {
  readonly receiver = new WebhookReceiver();
  readonly tenants: HubTenant[] = [];
  private api: SpawnedProcess | undefined;
  private readonly database: DemoDatabase;
  private env: Record<string, string> = {};
  private openLedger: DemoLedger | undefined;
  private worker: SpawnedProcess | undefined;

  constructor(databaseUrl: string | undefined) {
    this.database = new DemoDatabase(databaseUrl);
  }

  get ledger(): DemoLedger {
    if (!this.openLedger) throw new Error('The stack has not been started.');
    return this.openLedger;
  }

  /** killWorker ends the worker by SIGKILL, with nothing said or given back. */
  async killWorker(): Promise<void> {
    await this.worker?.kill();
  }

  /** start answers the api's URL once it and a worker are up, and the tenants have subscribed. */
  async start(plans: readonly TenantPlan[]): Promise<string> {
    const url = await this.database.start();
    const ledger = new DemoLedger(url);
    await ledger.open();
    this.openLedger = ledger;
    await this.receiver.start();
    const operatorToken = randomBytes(24).toString('hex');
    const app = { DATABASE_URL: url, HOST: '127.0.0.1', PORT: '0' };
    this.env = { ...app, ALLOW_PRIVATE_ADDRESSES: 'true', LEASE, POLL: '500ms' };
    this.api = spawnTs('apps/api/src/main.ts', { env: { ...this.env, OPERATOR_TOKEN: operatorToken } });
    const [line] = await Promise.all([this.api.line('Listening on http'), this.startWorker()]);
    const api = urlIn(line);
    for (const plan of plans)
      this.tenants.push(await this.subscribed(await HubTenant.create(api, operatorToken, plan)));
    return api;
  }

  async startWorker(): Promise<void> {
    this.worker = spawnTs('apps/worker/src/main.ts', { env: this.env });
    await this.worker.line('Health on http');
  }

  /** stop ends everything, in whatever state it is; it never rejects. */
  async stop(): Promise<void> {
    this.receiver.letGo();
    await Promise.allSettled([this.api?.stop(STOP_MS), this.worker?.stop(STOP_MS)]);
    await Promise.allSettled([this.receiver.stop(), this.openLedger?.close()]);
    await this.database.stop().catch(() => undefined);
  }

  /** words are the last lines that the processes said, for the report of a failure. */
  words(): string {
    return [this.api, this.worker].flatMap((each) => each?.lines.slice(-20) ?? []).join('\n');
  }

  private async subscribed(tenant: HubTenant): Promise<HubTenant> {
    const { events, name, subscriptions } = tenant.plan;
    for (const plan of subscriptions) {
      const failures = plan.manner === 'fails at first' ? FAILURES : 0;
      const endpoint = new ReceiverEndpoint(`/${name}/${plan.name}`, events, failures);
      await tenant.subscribe(plan, endpoint, this.receiver.add(endpoint));
    }
    return tenant;
  }
}

/** A log may be coloured: the URL ends where the letters of one do. */
function urlIn(line: string): string {
  return /http:[\w.:/]+/.exec(line)?.[0] ?? '';
}
