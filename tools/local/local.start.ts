import { resolve } from 'node:path';
import { dataFolder } from './data-folder.js';
import { LocalProblem } from './local.problem.js';
import { migrate } from './migrate.js';
import { Part } from './part.js';
import { choosePort } from './ports.js';
import { untilReady } from './readiness.js';
import { StartLock } from './start.lock.js';

const ROOT = resolve(__dirname, '../..');
const READY_WITHIN_MS = 60_000;
const APP_GRACE_MS = 30_000;
const SERVER_GRACE_MS = 30_000;

/** LocalStart runs everything on this machine: a PostgreSQL unless DATABASE_URL names one, the api and the worker. */
export class LocalStart {
  private readonly apps: Part[] = [];
  private lock: StartLock | undefined;
  private readonly ports = new Set<number>();
  private server: Part | undefined;
  private readonly stopping = new AbortController();

  /** run starts all parts, and resolves when `stop` was called and everything has ended. It rejects when a part fails; nothing runs on then either. */
  async run(): Promise<void> {
    try {
      await Promise.race([this.start().then(() => this.watch()), this.stopRequested()]);
    } finally {
      await this.end();
    }
  }

  /** stop makes `run` end. */
  stop(): void {
    this.stopping.abort();
  }

  private async app(name: string, variable: string, standard: number, databaseUrl: string): Promise<string> {
    const port = await choosePort(variable, standard, this.ports);
    this.ports.add(port);
    this.signal.throwIfAborted();
    const env = { DATABASE_URL: databaseUrl, HOST: '127.0.0.1', PORT: String(port) };
    const part = new Part({ env, file: `apps/${name}/src/main.ts`, name });
    this.apps.push(part);
    const url = `http://127.0.0.1:${port}`;
    await Promise.race([untilReady(name, url, READY_WITHIN_MS, this.signal), part.failure()]);
    console.log(`[start] ${name}: ${url} (process ${part.pid})`);
    return url;
  }

  /** The apps go first and in peace, then the server they use. */
  private async end(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.apps.map((part) => part.stop(APP_GRACE_MS)));
    await this.server?.stop(SERVER_GRACE_MS);
    this.lock?.release();
  }

  private async postgres(): Promise<string> {
    const folder = dataFolder(ROOT);
    this.lock = StartLock.take(folder);
    this.server = new Part({
      args: [folder],
      endsWithStart: false,
      file: 'tools/local/postgres.keeper.ts',
      name: 'postgres',
    });
    const { url } = await this.server.event('ready');
    console.log(`[start] PostgreSQL: ${String(url)} (data in ${folder}, kept by process ${this.server.pid})`);
    return String(url);
  }

  private get signal(): AbortSignal {
    return this.stopping.signal;
  }

  private async start(): Promise<void> {
    const databaseUrl = process.env.DATABASE_URL || (await this.postgres());
    await migrate(databaseUrl).catch((error: unknown) => {
      throw new LocalProblem(
        `The database could not be migrated: ${error instanceof Error ? error.message : String(error)}`,
        { cause: error },
      );
    });
    this.signal.throwIfAborted();
    const api = await this.app('api', 'PORT', 3_000, databaseUrl);
    await this.app('worker', 'WORKER_PORT', 3_001, databaseUrl);
    const event = '{"type":"issues.opened","repository":"octo/hello","payload":{"action":"opened"}}';
    console.log(`[start] Try: curl -i ${api}/events -H 'content-type: application/json' -d '${event}'`);
    console.log('[start] Ctrl-C stops everything.');
  }

  private stopRequested(): Promise<void> {
    return new Promise((done) => this.signal.addEventListener('abort', () => done(), { once: true }));
  }

  private watch(): Promise<never> {
    return Promise.race([...this.apps, ...(this.server ? [this.server] : [])].map((part) => part.failure()));
  }
}
