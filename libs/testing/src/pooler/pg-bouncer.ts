import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { freePort } from '../server/free-port.js';
import { within } from '../wait/within.js';
import { pgbouncerBinary } from './pgbouncer.binary.js';
import type { KeeperOrder } from './pgbouncer.keeper.js';

/** PgBouncerOptions say how a pooler shares its connections. */
export interface PgBouncerOptions {
  /** poolSize is the most connections to the server. Default 5. */
  readonly poolSize?: number;
  readonly poolMode: 'session' | 'transaction';
  /** settings are further ones of its configuration, such as `{ server_round_robin: '1' }`. */
  readonly settings?: Readonly<Record<string, string>>;
}

const ROOT = resolve(__dirname, '../../../..');
const START_WITHIN_MS = 30_000;

/** PgBouncer is a pooler in front of one database, on a free port of the loopback interface. It lets everybody in; close it at the end. */
export class PgBouncer {
  private constructor(
    /** url is the database's connection string with the pooler in the server's place. */
    readonly url: string,
    private readonly keeper: ChildProcess,
  ) {}

  /** start answers one in front of the database of a connection string. Throws where PgBouncer is not to be had, and says how to get it. */
  static async start(target: string, options: PgBouncerOptions): Promise<PgBouncer> {
    const binary = pgbouncerBinary();
    const port = await freePort();
    const url = new URL(target);
    const order: KeeperOrder = { binary, configuration: configurationOf(url, port, options) };
    const keeper = fork(join(__dirname, 'pgbouncer.keeper.ts'), {
      cwd: ROOT,
      execArgv: ['-C', '@holdfast/source', '-r', join(ROOT, 'tools/register.cjs')],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const said = once(keeper, 'message') as Promise<[{ failed?: string }]>;
    keeper.send(order);
    const [{ failed }] = await within(said, START_WITHIN_MS, 'PgBouncer to start');
    if (failed !== undefined) throw new Error(failed);
    url.hostname = '127.0.0.1';
    url.port = String(port);
    return new PgBouncer(url.toString(), keeper);
  }

  /** close ends it, with all its connections. */
  async close(): Promise<void> {
    const ended = once(this.keeper, 'exit');
    if (this.keeper.connected) this.keeper.disconnect();
    await ended;
  }
}

function configurationOf(target: URL, port: number, options: PgBouncerOptions): string {
  const quoted = (text: string) => `'${decodeURIComponent(text).replaceAll("'", "''")}'`;
  const server = [
    `host=${target.hostname}`,
    `port=${target.port || '5432'}`,
    `user=${quoted(target.username)}`,
    `password=${quoted(target.password)}`,
  ].join(' ');
  const settings = {
    auth_type: 'any',
    default_pool_size: String(options.poolSize ?? 5),
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    pool_mode: options.poolMode,
    unix_socket_dir: '',
    ...options.settings,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  return ['[databases]', `* = ${server}`, '[pgbouncer]', ...lines, ''].join('\n');
}
