import { randomBytes } from 'node:crypto';
import { type ClientConfig, escapeIdentifier, escapeLiteral } from 'pg';
import { DedicatedConnection } from '../connection/dedicated.connection.js';
import { trySession } from '../connection/session.trial.js';
import { DeafListenerError } from '../errors/deaf-listener.error.js';
import type { SqlResult } from '../sql/sql-executor.js';
import { withDeadline } from '../time/deadline.js';
import type { ListenerTimings } from './listener.ports.js';

/**
 * ListenerSession is one connection that listens. It never stands in a transaction between two statements, so that the server's notification queue
 * is always drained (K96), and it is ended when it does not answer in time, at the client by the deadline, at the server by the session's timeouts.
 */
export class ListenerSession {
  private last: Promise<unknown> = Promise.resolve();
  /** lost resolves when the connection is gone. */
  readonly lost: Promise<void>;

  private constructor(
    private readonly connection: DedicatedConnection,
    private readonly deadlineMs: number,
  ) {
    this.lost = new Promise((resolve) => connection.onLost(resolve));
  }

  /** open rejects where the connection shares its backend with others, or where a notification to itself does not arrive (K105). */
  static async open(
    config: ClientConfig,
    timings: ListenerTimings,
    signal: AbortSignal,
    notified: (channel: string) => void,
  ): Promise<ListenerSession> {
    const { deadlineMs, pingEveryMs } = timings;
    const connection = await DedicatedConnection.connect(config, {
      admit: async (session) => {
        const { shared } = await trySession(session, config, deadlineMs / 2);
        if (shared !== undefined) throw new DeafListenerError(`a pooler in transaction mode is in between: ${shared}`);
      },
      applicationName: 'holdfast-listener',
      deadlineMs,
      preparedStatements: false,
      signal,
    });
    const session = new ListenerSession(connection, deadlineMs);
    const giveUp = () => connection.destroy(new Error('The listener was closed.'));
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      const silentMs = Math.ceil(3 * (pingEveryMs + deadlineMs));
      await session.run(`SET idle_session_timeout = ${silentMs}`);
      await session.run(`SET tcp_user_timeout = ${silentMs}`);
      // A notification is a hint: it is worth no wait for the disk.
      await session.run('SET synchronous_commit = off');
      await session.prove(notified);
      return session;
    } catch (error) {
      connection.destroy(error instanceof Error ? error : new Error(String(error)));
      throw error;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  get failure(): Error | undefined {
    return this.connection.lost;
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  destroy(reason: Error): void {
    this.connection.destroy(reason);
  }

  async listen(channel: string): Promise<void> {
    await this.run(`LISTEN ${escapeIdentifier(channel)}`);
  }

  async unlisten(channel: string): Promise<void> {
    await this.run(`UNLISTEN ${escapeIdentifier(channel)}`);
  }

  /** ping proves that the session answers, and tells how full the server's notification queue is, 0 to 1. */
  async ping(): Promise<number> {
    const { rows } = await this.run<{ usage: number }>('SELECT pg_catalog.pg_notification_queue_usage() AS usage');
    return rows[0]!.usage;
  }

  /** run sends one statement after those before it. */
  run<Row>(text: string, values?: readonly unknown[]): Promise<SqlResult<Row>> {
    const { deadlineMs } = this;
    const answer = this.last.then(() => this.connection.query<Row>({ deadlineMs, text, values }));
    this.last = answer.catch(() => undefined);
    return answer;
  }

  /** prove sends itself a notification, in a statement after the LISTEN, on a channel that nobody else knows; then it hands on what arrives. */
  private async prove(notified: (channel: string) => void): Promise<void> {
    const proof = `holdfast:${randomBytes(12).toString('hex')}`;
    const heard = new Promise<void>((resolve) =>
      this.connection.onNotification((channel) => (channel === proof ? resolve() : notified(channel))),
    );
    await this.listen(proof);
    await this.run(`SELECT pg_catalog.pg_notify(${escapeLiteral(proof)}, '')`);
    await withDeadline(
      heard,
      this.deadlineMs,
      () => new DeafListenerError('LISTEN was accepted, but a notification to itself did not arrive'),
    );
    await this.unlisten(proof);
  }
}
