import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { checkAppConfiguration } from './app.configuration.js';
import { ownedDatabase, requirePlainRole } from './app.role.js';
import { dataFolder, dataFolderPath, serverFolder } from './data-folder.js';
import { demoTenant } from './demo.tenant.js';
import { LocalProblem } from './local.problem.js';
import { migrate } from './migrate.js';
import { Part } from './part.js';
import { choosePort } from './ports.js';
import { untilReady } from './readiness.js';
import { clearStaleServer } from './stale.server.js';
import { StartLock } from './start.lock.js';

const ROOT = resolve(__dirname, '../..');
const READY_WITHIN_MS = 60_000;
const APP_GRACE_MS = 30_000;
const SERVER_GRACE_MS = 30_000;

/** LocalStart runs everything on this machine: a PostgreSQL unless DATABASE_URL names one, the api and the worker. */
export class LocalStart {
  private readonly apps: Part[] = [];
  /** folder holds the data of a server of our own. */
  private folder: string | undefined;
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

  private async app(name: string, port: number, env: Record<string, string>): Promise<string> {
    this.signal.throwIfAborted();
    const settings = { HOST: '127.0.0.1', PORT: String(port), ...env };
    const part = new Part({ env: settings, file: `apps/${name}/src/main.ts`, name });
    this.apps.push(part);
    const url = `http://127.0.0.1:${port}`;
    await Promise.race([untilReady(name, url, READY_WITHIN_MS, this.signal), part.failure()]);
    console.log(`[start] ${name}: ${url} (process ${part.pid})`);
    return url;
  }

  /** database answers the URL of a migrated database, as a role that owns it and does not bypass row level security. */
  private async database(given: string | undefined): Promise<string> {
    const url = given ?? (await this.postgres());
    try {
      if (given) await requirePlainRole(given);
      const owned = given ?? (await ownedDatabase(url));
      await migrate(owned);
      return owned;
    } catch (cause) {
      if (cause instanceof LocalProblem) throw cause;
      const which = given ? 'DATABASE_URL: the' : 'The';
      throw new LocalProblem(`${which} database could not be migrated: ${reasonOf(cause)}`, { cause });
    }
  }

  /** The apps go first and in peace, then the server they use. */
  private async end(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.apps.map((part) => part.stop(APP_GRACE_MS)));
    await this.server?.stop(SERVER_GRACE_MS);
    // A keeper that was killed has left its server running.
    if (this.folder) await clearStaleServer(serverFolder(this.folder));
    this.lock?.release();
  }

  private async postgres(): Promise<string> {
    const folder = dataFolder(ROOT);
    this.lock = StartLock.take(folder);
    this.folder = folder;
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

  private async port(variable: string, standard: number): Promise<number> {
    const port = await choosePort(variable, standard, this.ports);
    this.ports.add(port);
    return port;
  }

  private get signal(): AbortSignal {
    return this.stopping.signal;
  }

  private async start(): Promise<void> {
    // What may be wrong is looked at before anything runs.
    const given = givenDatabase();
    checkAppConfiguration();
    const apiPort = await this.port('PORT', 3_000);
    const workerPort = await this.port('WORKER_PORT', 3_001);
    const databaseUrl = await this.database(given);
    this.signal.throwIfAborted();
    // Whoever sets none gets one for this start: the tenant of the demo is made with it.
    const operatorToken = process.env.OPERATOR_TOKEN || randomBytes(24).toString('base64url');
    const env = { DATABASE_URL: databaseUrl };
    const api = await this.app('api', apiPort, { ...env, OPERATOR_TOKEN: operatorToken });
    await this.app('worker', workerPort, env);
    const key = await demoTenant(api, operatorToken, join(this.folder ?? dataFolderPath(ROOT), 'demo.key'));
    this.say(api, key, operatorToken);
  }

  /** say prints lines that work as they are. */
  private say(api: string, key: string, operatorToken: string): void {
    const event = '{"type":"issues.opened","repository":"octo/hello","payload":{"action":"opened"}}';
    const by = `-H 'authorization: Bearer ${key}'`;
    console.log(`[start] Try: curl -i ${api}/events ${by} -H 'content-type: application/json' -d '${event}'`);
    console.log(`[start] What came of it: curl ${api}/repositories/octo/hello/statistics ${by}`);
    console.log(
      `[start] That key is the tenant demo's; the operator's token, for POST ${api}/tenants, is ${operatorToken}`,
    );
    if (process.env.ALLOW_PRIVATE_ADDRESSES !== 'true')
      console.log(
        '[start] Webhooks go to public addresses alone; for one of this machine: ALLOW_PRIVATE_ADDRESSES=true npm start',
      );
    console.log(`[start] Ctrl-C stops everything; from a script: kill ${process.pid}`);
  }

  private stopRequested(): Promise<void> {
    return new Promise((done) => this.signal.addEventListener('abort', () => done(), { once: true }));
  }

  private watch(): Promise<never> {
    return Promise.race([...this.apps, ...(this.server ? [this.server] : [])].map((part) => part.failure()));
  }
}

/** givenDatabase answers the URL of DATABASE_URL, or undefined where none is set. The value may hold a password: it is not repeated. */
function givenDatabase(): string | undefined {
  const url = process.env.DATABASE_URL;
  if (!url) return undefined;
  if (URL.canParse(url) && ['postgres:', 'postgresql:'].includes(new URL(url).protocol)) return url;
  throw new LocalProblem(
    'DATABASE_URL: expected postgres://user:password@host:5432/name. Without the variable a server of its own is started.',
  );
}

/** Where a name has several addresses, the error of all of them has a code and no message. */
function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return message || code || String(error);
}
