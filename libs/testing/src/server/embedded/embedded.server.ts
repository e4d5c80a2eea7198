import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { locateBinaries, type Binaries } from './binaries.js';
import { reachable, serverUser, type ServerUser } from './server-user.js';

/** EmbeddedServerOptions say where the server keeps its data and how it runs. */
export interface EmbeddedServerOptions {
  /** dataFolder is created and initialised when it holds no data yet. */
  readonly dataFolder: string;
  readonly onLog?: (text: string) => void;
  readonly password: string;
  readonly port: number;
  /** programs is the folder of the package whose programs run: another version than the workspace's. Default: the workspace's. */
  readonly programs?: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** startTimeoutMs bounds the wait for "ready to accept connections", crash recovery included. Default 60 000. */
  readonly startTimeoutMs?: number;
}

/** A standby takes connections that read. */
const READY = /database system is ready to accept (?:read-only )?connections/;
const LAST_LINES = 30;

/** EmbeddedServer is one PostgreSQL server of this process: TCP on loopback only, superuser `postgres`. */
export class EmbeddedServer {
  private readonly binaries: Binaries;
  private log = '';
  private server: ChildProcess | undefined;
  private readonly user: ServerUser | undefined = serverUser();

  constructor(private readonly options: EmbeddedServerOptions) {
    this.binaries = locateBinaries(this.user, options.programs);
  }

  /** exited resolves when the server process has ended, for whatever reason. */
  get exited(): Promise<unknown> {
    if (!this.server || this.server.exitCode !== null || this.server.signalCode !== null) return Promise.resolve();
    return once(this.server, 'exit');
  }

  get url(): string {
    return `postgres://postgres:${this.options.password}@127.0.0.1:${this.options.port}/postgres`;
  }

  /** start initialises the data folder if it is new and resolves once the server accepts connections. */
  async start(): Promise<void> {
    if (!existsSync(join(this.options.dataFolder, 'PG_VERSION'))) this.initialise();
    const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: '', ...this.options.settings };
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const args = ['-D', this.options.dataFolder, '-p', String(this.options.port), ...flags];
    this.server = spawn(this.binaries.postgres, args, {
      ...this.user,
      cwd: this.options.dataFolder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await this.ready(this.server);
  }

  /** stop ends the server: fast shutdown, after 15 s immediate, after 5 more by force; `immediate` begins with that: the next start is a recovery. */
  async stop(how: 'fast' | 'immediate' = 'fast'): Promise<void> {
    const signals = [
      ['SIGINT', 15_000],
      ['SIGQUIT', 5_000],
      ['SIGKILL', 5_000],
    ] as const;
    for (const [signal, patienceMs] of signals.slice(how === 'fast' ? 0 : 1)) {
      this.server?.kill(signal);
      if (await settlesWithin(this.exited, patienceMs)) return;
    }
  }

  private initialise(): void {
    const { dataFolder, password } = this.options;
    mkdirSync(dataFolder, { mode: 0o700, recursive: true });
    if (!reachable(dirname(dataFolder), this.user)) throw new Error(`The server's account cannot reach ${dataFolder}.`);
    const passwordFile = join(dirname(dataFolder), `password-${process.pid}`);
    writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
    if (this.user) for (const path of [dataFolder, passwordFile]) chownSync(path, this.user.uid, this.user.gid);
    const args = [
      '-D',
      dataFolder,
      '-U',
      'postgres',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
    ];
    try {
      const done = spawnSync(this.binaries.initdb, args, {
        ...this.user,
        cwd: dataFolder,
        encoding: 'utf8',
        timeout: 60_000,
      });
      if (done.status !== 0) throw new Error(`initdb failed: ${done.error?.message ?? done.stderr}`);
    } finally {
      rmSync(passwordFile, { force: true });
    }
  }

  private listen(text: string): void {
    this.log = `${this.log}${text}`.split('\n').slice(-LAST_LINES).join('\n');
    this.options.onLog?.(text);
  }

  private async ready(server: ChildProcess): Promise<void> {
    // Of an earlier start it says nothing about this one.
    this.log = '';
    const ready = new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.once('exit', () =>
        reject(new Error(`PostgreSQL ended while it was starting. Its last words:\n${this.log}`)),
      );
      server.stderr?.setEncoding('utf8').on('data', (text: string) => {
        this.listen(text);
        if (READY.test(this.log)) resolve();
      });
    });
    const patienceMs = this.options.startTimeoutMs ?? 60_000;
    if (await settlesWithin(ready, patienceMs)) return;
    await this.stop();
    throw new Error(`PostgreSQL did not accept connections within ${patienceMs} ms. Its last words:\n${this.log}`);
  }
}

/** settlesWithin answers whether a promise resolved within a time; it rejects when the promise does. */
async function settlesWithin(promise: Promise<unknown>, patienceMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), patienceMs)));
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
