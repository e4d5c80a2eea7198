import { Client, type ClientConfig } from 'pg';
import { ConnectionLostError } from '../errors/connection-lost.error.js';
import { isConnectionLost, sqlStateOf } from '../errors/sql-state.js';
import { StatementDeadlineError } from '../errors/statement-deadline.error.js';
import type { SqlResult } from '../sql/sql-executor.js';
import { sqlResultOf } from '../sql/pg.executor.js';
import { startTimer, withDeadline } from '../time/deadline.js';
import { cancelRunning } from './cancel-request.js';
import { resultsOf, statusOf } from '../sql/pg.types.js';

const END_WITHIN_MS = 1_000;
const QUERY_CANCELED = '57014';
/** The connection forgot a prepared statement, or its tables changed below it: a new connection prepares it afresh. */
const STALE_PREPARED = new Set(['26000', '0A000']);

/**
 * A prepared statement keeps its plan. One that was made while a table was small reads the whole table, and goes on doing so when it is large, until
 * the table is analyzed: that never pays here, where every statement has its index. Nor does compiling or parallel work. A bitmap would reach, and
 * lock, rows in the order of the heap: by an index on ids they are locked in the order of ids, and two batches cannot wait for each other
 * crosswise (K132).
 */
const PINNED_PLANS =
  'SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off; SET max_parallel_workers_per_gather = 0';

/** NewSession is a session that has been connected and on which nothing has been set. */
export interface NewSession {
  /** announcedPid is the backend that the server announced at the connecting; a pooler announces a number of its own. */
  readonly announcedPid: number | undefined;
  query<Row>(text: string): Promise<SqlResult<Row>>;
}

/** DedicatedConnectionOptions say how a connection of Holdfast's own is made and used. */
export interface DedicatedConnectionOptions {
  /** admit looks at the session before anything is set on it, within the time for connecting; what it throws refuses the session. Default: all are welcome. */
  readonly admit?: (session: NewSession) => Promise<void>;
  /** applicationName is what `pg_stat_activity` shows. */
  readonly applicationName: string;
  /** deadlineMs bounds the connecting and each statement, at the client and at the server. */
  readonly deadlineMs: number;
  /** preparedStatements keeps named statements prepared. Default true; false behind a pooler that cannot. */
  readonly preparedStatements?: boolean;
  /** signal gives a connecting up when it aborts. A connection that stands is not touched. */
  readonly signal?: AbortSignal;
}

/** SentStatement is one statement with its deadline. */
export interface SentStatement {
  readonly deadlineMs: number;
  readonly name?: string | undefined;
  readonly text: string;
  readonly values?: readonly unknown[] | undefined;
}

/**
 * DedicatedConnection is one session of Holdfast's own, outside the application's pool: READ COMMITTED whatever the role's default is (Q16), and no
 * statement without a deadline.
 *
 * When a deadline passes, or an error says that the session is of no more use (killed, failed over to read-only, K33, K116), its socket is
 * destroyed: a connection is either sound or gone. One statement at a time: await each before the next.
 */
export class DedicatedConnection {
  private lostBy: Error | undefined;
  private readonly lossListeners: (() => void)[] = [];

  private constructor(
    private readonly client: Client,
    private readonly options: DedicatedConnectionOptions,
  ) {
    client.on('error', (error) => this.lose(error));
    client.once('end', () => this.lose(new Error('Connection terminated')));
  }

  /** connect rejects with ConnectionLostError when no session could be had within the deadline. */
  static async connect(
    config: ClientConfig,
    options: DedicatedConnectionOptions,
    withinMs = options.deadlineMs,
  ): Promise<DedicatedConnection> {
    const client = new Client({
      keepAlive: true,
      ...config,
      application_name: options.applicationName,
      connectionTimeoutMillis: 0,
      query_timeout: 0,
    });
    const connection = new DedicatedConnection(client, options);
    try {
      const open = unlessAborted(connection.open(), options.signal);
      await withDeadline(open, withinMs, () => new StatementDeadlineError('connect', withinMs));
      return connection;
    } catch (error) {
      connection.destroy(error instanceof Error ? error : new Error(String(error)));
      throw error instanceof ConnectionLostError ? error : new ConnectionLostError('connect', error);
    }
  }

  /** lost is the error that ended the connection, or undefined while it stands. */
  get lost(): Error | undefined {
    return this.lostBy;
  }

  /** inTransaction tells whether the server has said that a transaction, open or failed, is under way. */
  get inTransaction(): boolean {
    return statusOf(this.client) !== 'I';
  }

  /** close says goodbye to the server, one second at most. It never rejects. */
  async close(): Promise<void> {
    if (this.lostBy) return;
    const late = () => new Error('No goodbye.');
    await withDeadline(this.client.end(), END_WITHIN_MS, late).catch((error: Error) => this.destroy(error));
  }

  /** destroy ends the connection at once; what is running is cancelled and rejects. */
  destroy(reason: Error): void {
    if (!this.lostBy) cancelRunning(this.client);
    this.lose(reason);
    streamOf(this.client)?.destroy(reason);
  }

  /** onLost calls `listener` once when the connection is gone, at once if it is already. */
  onLost(listener: () => void): void {
    if (this.lostBy) listener();
    else this.lossListeners.push(listener);
  }

  /** onNotification calls `listener` with the channel of each notification that arrives; what it carries besides is left out. */
  onNotification(listener: (channel: string) => void): void {
    this.client.on('notification', ({ channel }) => listener(channel));
  }

  /**
   * query sends one statement. It rejects with StatementDeadlineError or ConnectionLostError, after which the connection is gone, or with the
   * server's own error, after which it is sound.
   */
  async query<Row>(statement: SentStatement): Promise<SqlResult<Row>> {
    return sqlResultOf<Row>(await this.send(statement));
  }

  /** tag sends one statement and answers its command tag, for those where it is the only proof (COMMIT). */
  async tag(statement: SentStatement): Promise<string | undefined> {
    return resultsOf(await this.send(statement)).at(-1)?.command;
  }

  private doing(statement: SentStatement): string {
    return statement.name ?? 'run a statement';
  }

  private failure(error: unknown, statement: SentStatement): unknown {
    const state = sqlStateOf(error);
    if (this.lostBy instanceof StatementDeadlineError) return this.lostBy;
    if (this.lostBy || isConnectionLost(error)) {
      this.destroy(error instanceof Error ? error : new Error(String(error)));
      return new ConnectionLostError(this.doing(statement), error);
    }
    if (state !== undefined && STALE_PREPARED.has(state) && statement.name) this.destroy(error as Error);
    return state === QUERY_CANCELED && /statement timeout/.test((error as Error).message)
      ? new StatementDeadlineError(this.doing(statement), statement.deadlineMs, error)
      : error;
  }

  private lose(error: Error): void {
    if (this.lostBy) return;
    this.lostBy = error;
    for (const listener of this.lossListeners.splice(0)) listener();
  }

  private async open(): Promise<void> {
    await this.client.connect();
    await this.options.admit?.({
      announcedPid: (this.client as { processID?: number | null }).processID ?? undefined,
      query: async <Row>(text: string) => sqlResultOf<Row>(await this.client.query(text)),
    });
    const ms = Math.ceil(this.options.deadlineMs);
    await this.client.query(
      `SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED; SET statement_timeout = ${ms}; ` +
        `SET idle_in_transaction_session_timeout = ${ms}; ${PINNED_PLANS}`,
    );
  }

  private async send(statement: SentStatement): Promise<unknown> {
    if (this.lostBy) throw new ConnectionLostError(this.doing(statement), this.lostBy);
    const { deadlineMs, name, text, values = [] } = statement;
    const prepared = (this.options.preparedStatements ?? true) && name !== undefined;
    const timer = startTimer(deadlineMs, () =>
      this.destroy(new StatementDeadlineError(this.doing(statement), deadlineMs)),
    );
    try {
      return await this.client.query({ ...(prepared && { name }), text, values: values as unknown[] });
    } catch (error) {
      throw this.failure(error, statement);
    } finally {
      timer.clear();
    }
  }
}

/** unlessAborted answers what the promise answers, or rejects when the signal aborts; the promise's late rejection is swallowed. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise<T>((resolve, reject) => {
    const giveUp = () => reject(new Error('The connecting was given up.'));
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}

function streamOf(client: Client): { destroy(error?: Error): void } | undefined {
  return (client as { connection?: { stream?: { destroy(error?: Error): void } } }).connection?.stream;
}
