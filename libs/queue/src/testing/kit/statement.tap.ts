import { type Database, property } from '@holdfast/kernel';
import type { Pool, PoolClient } from 'pg';
import { KitError } from './kit.errors.js';

/** CrashPoint is where a connection is killed: before the n-th statement, or after the n-th COMMIT was carried out and before its answer. */
export interface CrashPoint {
  readonly moment: 'after-commit' | 'before';
  readonly place: number;
}

type Query = (...args: unknown[]) => unknown;
type Connect = (this: Pool, callback?: (...args: unknown[]) => void) => unknown;

interface Stream {
  destroy(error?: Error): void;
  emit(event: string, ...args: unknown[]): boolean;
}

const COMMITS = /\bcommit\s*;?\s*$/i;
const KILLED = 'Killed by crashTest';

/**
 * StatementTap stands between a pool of `pg`, an application's own or the one of its DataSource, and whoever takes a client of it: it sees every statement and
 * kills one connection, once.
 */
export class StatementTap {
  /** killed is the backend whose connection was killed, with what it was about to do. */
  killed: { readonly pid: number; readonly statement: string } | undefined;
  readonly statements: string[] = [];
  private commits = 0;
  private killing: Promise<void> = Promise.resolve();
  private readonly tapped = new Set<PoolClient>();
  private readonly unheard = () => undefined;

  constructor(
    private readonly pool: Pool,
    private readonly point: CrashPoint | undefined,
    /** ended resolves when a backend is in no transaction any more. */
    private readonly ended: (pid: number) => Promise<void>,
  ) {}

  /** close takes the tap away. */
  async close(): Promise<void> {
    await this.killing;
    Reflect.deleteProperty(this.pool, 'connect');
    for (const client of this.tapped) {
      Reflect.deleteProperty(client, 'query');
      client.removeListener('error', this.unheard);
    }
  }

  open(): void {
    // eslint-disable-next-line @typescript-eslint/unbound-method -- it is called on its pool
    const connect = this.pool.connect as Connect;
    const tap = (client: PoolClient) => this.tap(client);
    (this.pool as { connect: unknown }).connect = function (this: Pool, callback?: (...args: unknown[]) => void) {
      if (!callback) return (connect.call(this) as Promise<PoolClient>).then(tap);
      return connect.call(this, (error, client, ...rest) =>
        callback(error, client && tap(client as PoolClient), ...rest),
      );
    };
  }

  private kill(client: PoolClient, statement: string): void {
    this.killed = { pid: property(client, 'processID') as number, statement };
    streamOf(client).destroy(new Error(KILLED));
  }

  /** The server has carried it out when its transaction is over; whatever it answers is not heard. */
  private async killAfter(client: PoolClient, statement: string): Promise<void> {
    const stream = streamOf(client);
    const pid = property(client, 'processID') as number;
    this.killed = { pid, statement };
    const emit = stream.emit.bind(stream);
    stream.emit = (event, ...args) => event === 'data' || emit(event, ...args);
    await this.ended(pid).finally(() => {
      stream.emit = emit;
      stream.destroy(new Error(KILLED));
    });
  }

  private pass(client: PoolClient, query: Query, args: unknown[]): unknown {
    const text = textOf(args[0]);
    this.statements.push(text);
    const commits = COMMITS.test(text);
    if (commits) this.commits += 1;
    const { point } = this;
    if (!point || this.killed) return query.apply(client, args);
    if (point.moment === 'before') {
      if (point.place === this.statements.length) this.kill(client, text);
      return query.apply(client, args);
    }
    if (!commits || point.place !== this.commits) return query.apply(client, args);
    this.killing = this.killAfter(client, text);
    return query.apply(client, args);
  }

  private tap(client: PoolClient): PoolClient {
    if (this.tapped.has(client)) return client;
    this.tapped.add(client);
    // Whoever holds it may not listen, and a killed connection would end the process.
    client.on('error', this.unheard);
    // eslint-disable-next-line @typescript-eslint/unbound-method -- it is called on its client
    const query = client.query as Query;
    (client as { query: unknown }).query = (...args: unknown[]) => this.pass(client, query, args);
    return client;
  }
}

/** poolOf answers the pool of `pg` that a database opens its transactions on. Throws KitError where there is none. */
export function poolOf({ identity }: Database): Pool {
  const pool = typeof property(identity, 'connect') === 'function' ? identity : undefined;
  const found = property(property(identity, 'driver'), 'master') ?? pool;
  if (typeof property(found, 'connect') === 'function' && typeof property(found, 'totalCount') === 'number')
    return found as Pool;
  throw new KitError(
    'crashTest needs a database of pgPool(pool) or typeOrm(dataSource), whose DataSource is initialized.',
  );
}

function streamOf(client: PoolClient): Stream {
  const stream = property(property(client, 'connection'), 'stream');
  if (typeof property(stream, 'destroy') === 'function') return stream as Stream;
  throw new KitError('crashTest needs the client of `pg` in JavaScript, not pg-native.');
}

function textOf(query: unknown): string {
  const text = typeof query === 'string' ? query : property(query, 'text');
  return typeof text === 'string' ? text : '(a cursor or stream)';
}
