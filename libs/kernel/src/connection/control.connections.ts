import type { ClientConfig } from 'pg';
import { ConnectionLostError } from '../errors/connection-lost.error.js';
import { PoolExhaustedError } from '../errors/pool-exhausted.error.js';
import type { SchemaName } from '../sql/schema-name.js';
import type { SqlExecutor, SqlResult } from '../sql/sql-executor.js';
import type { Statement } from '../sql/statement.js';
import { startTimer } from '../time/deadline.js';
import { ControlTransaction } from './control.transaction.js';
import { DedicatedConnection, type DedicatedConnectionOptions } from './dedicated.connection.js';

/** ControlConnectionsOptions say how many control connections there may be and how long they may be waited for. */
export interface ControlConnectionsOptions extends DedicatedConnectionOptions {
  /** closeWithinMs is how long `close` waits for what is running, before it is cut off. Default `deadlineMs`. */
  readonly closeWithinMs?: number;
  /** max is the most connections that are open at once. */
  readonly max: number;
}

/** DeadlineOption gives one call a deadline of its own instead of that of the connections. */
export interface DeadlineOption {
  /** deadlineMs bounds the whole call: waiting for a connection, connecting, and the statements. */
  readonly deadlineMs?: number;
}

interface Waiter {
  resolve(connection: DedicatedConnection | undefined): void;
}

/**
 * ControlConnections are the few connections that control traffic has to itself, so that handlers cannot starve it (R19).
 *
 * Opened when first needed and kept; READ COMMITTED (Q16); every call has a deadline, after which the socket is destroyed (R18). A connection that
 * is lost is replaced by the next call: nothing is retried here.
 */
export class ControlConnections implements SqlExecutor {
  /** cutOff: `close` waits for nothing any more. */
  private cutOff: Error | undefined;
  private closing: Promise<void> | undefined;
  private readonly connections = new Set<DedicatedConnection>();
  private connecting = 0;
  private readonly idle: DedicatedConnection[] = [];
  private whenEmpty: (() => void) | undefined;
  private readonly waiters: Waiter[] = [];

  /** `config` may be a function, for a configuration that is known only later; it is asked for each new connection. */
  constructor(
    private readonly config: ClientConfig | (() => ClientConfig),
    private readonly options: ControlConnectionsOptions,
  ) {}

  /** idleCount is how many open connections nobody uses. */
  get idleCount(): number {
    return this.idle.length;
  }

  /** max is the most connections that are open at once. */
  get max(): number {
    return this.options.max;
  }

  /** openCount is how many connections are open or being opened. */
  get openCount(): number {
    return this.connections.size + this.connecting;
  }

  /** close waits for what is running, at most `closeWithinMs`, and ends all connections. Idempotent; afterwards every call rejects. */
  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  /** query sends one statement in a transaction of its own. */
  query<Row = unknown>(text: string, values?: readonly unknown[], name?: string): Promise<SqlResult<Row>> {
    return this.send<Row>(text, values, name, {});
  }

  /** run sends one statement in a transaction of its own. */
  run<Params, Row>(
    statement: Statement<Params, Row>,
    schema: SchemaName,
    params: Params,
    options: DeadlineOption = {},
  ): Promise<SqlResult<Row>> {
    const { name, text, values } = statement.bind(schema, params);
    return this.send<Row>(text, values, name, options);
  }

  /**
   * transaction runs `work` in one READ COMMITTED transaction; it commits when `work` resolves and rolls back when it rejects.
   *
   * Rejects with TransactionAbortedError when a failed statement was caught inside, and with CommitUnknownError when the answer to COMMIT was lost.
   */
  async transaction<T>(work: (executor: SqlExecutor) => Promise<T>, options: DeadlineOption = {}): Promise<T> {
    return this.use(options, (connection, leftMs) => new ControlTransaction(connection, leftMs).run(work));
  }

  private async acquire(deadlineMs: number): Promise<DedicatedConnection> {
    const startedAt = performance.now();
    for (;;) {
      if (this.closing) throw new ConnectionLostError('use a control connection', new Error('They have been closed.'));
      const idle = this.idle.pop();
      if (idle) return idle;
      const leftMs = deadlineMs - (performance.now() - startedAt);
      if (leftMs <= 0) throw this.exhausted(deadlineMs);
      if (this.openCount < this.options.max) return this.connect(leftMs);
      const handed = await this.turn(leftMs);
      if (handed) return handed;
    }
  }

  private async connect(leftMs: number): Promise<DedicatedConnection> {
    this.connecting++;
    try {
      const config = typeof this.config === 'function' ? this.config() : this.config;
      const deadlineMs = Math.min(leftMs, this.options.deadlineMs);
      const connection = await DedicatedConnection.connect(config, this.options, deadlineMs);
      this.connections.add(connection);
      connection.onLost(() => this.forget(connection));
      if (this.cutOff) connection.destroy(this.cutOff);
      return connection;
    } finally {
      this.connecting--;
      this.settle();
    }
  }

  private cut(): void {
    this.cutOff = new Error('They have been closed.');
    for (const connection of [...this.connections]) connection.destroy(this.cutOff);
    this.whenEmpty?.();
  }

  private async end(): Promise<void> {
    for (const waiter of this.waiters.splice(0)) waiter.resolve(undefined);
    const closed = this.idle.splice(0).map((connection) => connection.close());
    await Promise.all(closed);
    if (this.openCount === 0) return;
    const empty = new Promise<void>((resolve) => (this.whenEmpty = resolve));
    const timer = startTimer(this.options.closeWithinMs ?? this.options.deadlineMs, () => this.cut());
    await empty;
    timer.clear();
  }

  private exhausted(deadlineMs: number): PoolExhaustedError {
    return new PoolExhaustedError(this.options.max, Math.round(deadlineMs), this.waiters.length);
  }

  private forget(connection: DedicatedConnection): void {
    this.connections.delete(connection);
    const at = this.idle.indexOf(connection);
    if (at >= 0) this.idle.splice(at, 1);
    this.settle();
  }

  private release(connection: DedicatedConnection): void {
    if (connection.lost) return;
    if (this.closing) return void connection.close();
    const waiter = this.waiters.shift();
    if (waiter) waiter.resolve(connection);
    else this.idle.push(connection);
  }

  private send<Row>(
    text: string,
    values: readonly unknown[] | undefined,
    name: string | undefined,
    options: DeadlineOption,
  ): Promise<SqlResult<Row>> {
    return this.use(options, (connection, leftMs) => {
      const statement = { deadlineMs: leftMs, name, text, values };
      // The session's own statement_timeout ends what is within its deadline; a longer one has to say so.
      if (leftMs <= this.options.deadlineMs) return connection.query<Row>(statement);
      return new ControlTransaction(connection, leftMs).run((executor) => executor.query<Row>(text, values, name));
    });
  }

  /** settle lets the next one try when a place has become free, and ends `close` when nothing is left. */
  private settle(): void {
    if (this.openCount === 0) this.whenEmpty?.();
    if (this.openCount < this.options.max) this.waiters.shift()?.resolve(undefined);
  }

  private turn(leftMs: number): Promise<DedicatedConnection | undefined> {
    return new Promise((resolve) => {
      const waiter: Waiter = {
        resolve: (connection) => {
          timer.clear();
          resolve(connection);
        },
      };
      const timer = startTimer(leftMs, () => {
        this.waiters.splice(this.waiters.indexOf(waiter), 1);
        resolve(undefined);
      });
      this.waiters.push(waiter);
    });
  }

  private async use<T>(
    options: DeadlineOption,
    work: (connection: DedicatedConnection, leftMs: number) => Promise<T>,
  ): Promise<T> {
    const deadlineMs = options.deadlineMs ?? this.options.deadlineMs;
    const startedAt = performance.now();
    const connection = await this.acquire(deadlineMs);
    try {
      return await work(connection, Math.max(1, deadlineMs - (performance.now() - startedAt)));
    } finally {
      this.release(connection);
    }
  }
}
