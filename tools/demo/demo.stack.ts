import { randomBytes } from 'node:crypto';
import { spawnTs, type SpawnedProcess } from '@holdfast/testing';
import { DemoDatabase } from './demo.database.js';
import { DemoLedger } from './demo.ledger.js';
import { WebhookReceiver } from './webhook.receiver.js';

/** Short, so that what a killed worker held is taken over within seconds. */
const LEASE = '6s';
const STOP_MS = 15_000;

/** DemoStack is everything that runs: the database, the receiver, the api and one worker at a time, the last two as processes. */
export class DemoStack {
  readonly receiver: WebhookReceiver;
  private api: SpawnedProcess | undefined;
  private readonly database: DemoDatabase;
  private env: Record<string, string> = {};
  private openLedger: DemoLedger | undefined;
  private readonly secret = randomBytes(24).toString('hex');
  private worker: SpawnedProcess | undefined;

  constructor(databaseUrl: string | undefined) {
    this.database = new DemoDatabase(databaseUrl);
    this.receiver = new WebhookReceiver(this.secret);
  }

  get ledger(): DemoLedger {
    if (!this.openLedger) throw new Error('The stack has not been started.');
    return this.openLedger;
  }

  /** killWorker ends the worker by SIGKILL, with nothing said or given back. */
  async killWorker(): Promise<void> {
    await this.worker?.kill();
  }

  /** start answers the api's URL once it and a worker are up. */
  async start(): Promise<string> {
    const url = await this.database.start();
    const ledger = new DemoLedger(url);
    await ledger.open();
    this.openLedger = ledger;
    const webhook = {
      ALLOW_PRIVATE_ADDRESSES: 'true',
      WEBHOOK_SECRET: this.secret,
      WEBHOOK_URL: await this.receiver.start(),
    };
    this.env = { DATABASE_URL: url, HOST: '127.0.0.1', LEASE, POLL: '500ms', PORT: '0', ...webhook };
    this.api = spawnTs('apps/api/src/main.ts', { env: this.env });
    const [line] = await Promise.all([this.api.line('Listening on http'), this.startWorker()]);
    return urlIn(line);
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
}

/** A log may be coloured: the URL ends where the letters of one do. */
function urlIn(line: string): string {
  return /http:[\w.:/]+/.exec(line)?.[0] ?? '';
}
