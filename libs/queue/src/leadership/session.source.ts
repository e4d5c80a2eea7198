import { Backoff, ConnectionLostError, DedicatedConnection, errorChain, type SchemaName } from '@holdfast/kernel';
import type { ClientConfig } from 'pg';
import { LeadershipClosedError } from '../errors/leadership-closed.error.js';
import { PoolerError } from '../errors/pooler.error.js';
import { LeaderSession } from './leader.session.js';
import { timingsOf } from './leader.timings.js';
import { admitSession } from './pooler.trial.js';
import { ProvenConnection } from './proven.connection.js';

/** SessionSourceOptions say where sessions come from. */
export interface SessionSourceOptions {
  readonly applicationName: string;
  readonly config: ClientConfig | (() => ClientConfig);
  readonly schema: SchemaName;
}

/** SessionSource has the one session of a leadership, and opens the next one when it has ended. */
export class SessionSource {
  private readonly backoff = new Backoff({ base: '50ms', factor: 2, jitter: 0.2, max: '1m' });
  private connecting: Promise<LeaderSession> | undefined;
  private failed: { readonly error: unknown; readonly times: number; readonly until: number } | undefined;
  private readonly interrupt = new AbortController();
  private session: LeaderSession | undefined;

  constructor(private readonly options: SessionSourceOptions) {}

  /** close ends the session, or the opening of one. It never rejects; afterwards there is none. */
  async close(): Promise<void> {
    this.interrupt.abort();
    await this.connecting?.catch(() => undefined);
    await this.drop();
  }

  /**
   * current answers the session, a new one where the last has ended. After a failure it rejects with the same error for a while, half a tick at
   * most, without asking the server again.
   */
  async current(tickMs: number): Promise<LeaderSession> {
    if (this.interrupt.signal.aborted) throw new LeadershipClosedError();
    if (this.session && !this.session.ended) return this.session;
    this.connecting ??= this.connect(tickMs).finally(() => (this.connecting = undefined));
    return this.connecting;
  }

  /** drop ends the session; the next one who asks gets another. It never rejects. */
  async drop(): Promise<void> {
    const { session } = this;
    this.session = undefined;
    await session?.close();
  }

  private async connect(tickMs: number): Promise<LeaderSession> {
    if (this.failed && performance.now() < this.failed.until) throw this.failed.error;
    try {
      const session = await this.open(tickMs);
      if (this.interrupt.signal.aborted) {
        await session.close();
        throw new LeadershipClosedError();
      }
      this.failed = undefined;
      return (this.session = session);
    } catch (error) {
      const times = (this.failed?.times ?? 0) + 1;
      const pauseMs = Math.min(tickMs / 2, this.backoff.delayMs(times));
      this.failed = { error, times, until: performance.now() + pauseMs };
      throw error;
    }
  }

  private async open(tickMs: number): Promise<LeaderSession> {
    const { applicationName, config, schema } = this.options;
    const { answerMs, connectMs } = timingsOf(tickMs);
    let backend = 0;
    try {
      const settings = typeof config === 'function' ? config() : config;
      const connection = await DedicatedConnection.connect(
        settings,
        {
          admit: async (session) => void (backend = await admitSession(session, settings, connectMs / 2)),
          applicationName,
          deadlineMs: answerMs,
          preparedStatements: false,
          signal: this.interrupt.signal,
        },
        connectMs,
      );
      return new LeaderSession(new ProvenConnection(connection, { answerMs, backend, schema }));
    } catch (error) {
      if (this.interrupt.signal.aborted) throw new LeadershipClosedError();
      const pooler = errorChain(error).find((link) => link instanceof PoolerError);
      throw pooler ?? (error instanceof ConnectionLostError ? error : new ConnectionLostError('connect', error));
    }
  }
}
