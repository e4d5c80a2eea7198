import {
  type BoundStatement,
  ConnectionLostError,
  type DedicatedConnection,
  type SchemaName,
  type SqlResult,
  sqlStateOf,
  startTimer,
  type Timer,
  withDeadline,
} from '@holdfast/kernel';
import { LeadershipUnprovedError } from '../errors/leadership-unproved.error.js';
import { PoolerError } from '../errors/pooler.error.js';
import { asError } from './as-error.js';
import { HeldStakes } from './held.stakes.js';
import { Lane } from './lane.js';
import { lockObjectOf } from './lock.key.js';
import { proveLocks, type ProveLocksRow } from './sql/prove-locks.sql.js';
import { releaseLocks } from './sql/release-locks.sql.js';
import type { Stake } from './stake.js';

const FAILED_TRANSACTION = '25P02';
/** The longest that the last words of a session may take. */
const GOODBYE_WITHIN_MS = 1_000;

/** ProvenConnectionOptions say which session it is. */
export interface ProvenConnectionOptions {
  /** answerMs is how long the client waits for a statement while nothing is held. */
  readonly answerMs: number;
  /** backend is the server process that every statement has to reach. */
  readonly backend: number;
  readonly schema: SchemaName;
}

/** SendOptions are what the sender of a statement wants besides. */
export interface SendOptions<Row> {
  /** onAnswer looks at the rows before anything else is sent; what it throws is the statement's failure. */
  readonly onAnswer?: (rows: readonly Row[]) => void;
  /** withinMs is the longest the answer may take. Default: as long as the last proof is believed. */
  readonly withinMs?: number;
}

/**
 * ProvenConnection is the session that holds names, and how long they are believed to be held (L2).
 *
 * Whatever the session answers is a proof, from the send of the statement on; a heartbeat sees to the next one. Where there is none in time, or any
 * doubt, the session is ended: either it is proved, or it is gone. `leader.timings.ts` has the arithmetic.
 */
export class ProvenConnection {
  readonly backend: number;
  readonly held = new HeldStakes();
  readonly schema: SchemaName;
  private beating = false;
  private readonly endListeners: (() => void)[] = [];
  private ending: Error | undefined;
  private heartbeat: Timer | undefined;
  private readonly lane = new Lane();
  private provedAt = -Infinity;

  constructor(
    private readonly connection: DedicatedConnection,
    private readonly options: ProvenConnectionOptions,
  ) {
    this.backend = options.backend;
    this.schema = options.schema;
    connection.onLost(() => this.end(new ConnectionLostError('hold the leadership', connection.lost)));
  }

  /** ended is the reason why nothing is to be had of this session any more, or undefined. */
  get ended(): Error | undefined {
    return this.ending;
  }

  get inTransaction(): boolean {
    return this.connection.inTransaction;
  }

  /** beliefLeftMs is for how long a name is still believed to be held: 0 where it is not. */
  beliefLeftMs(stake: Stake): number {
    return this.ending || !this.held.has(stake) ? 0 : this.beliefLeft;
  }

  /** close gives up what is held and says goodbye; about three seconds at most, when nobody answers. It never rejects, and nobody's loss is told. */
  async close(): Promise<void> {
    if (this.ending) return;
    const holding = this.held.clear().length > 0;
    this.stop(new Error('The leadership was closed.'));
    if (holding) {
      const release = { ...releaseLocks.bind(this.schema, {}), deadlineMs: GOODBYE_WITHIN_MS };
      const released = this.lane.run(() => this.connection.query(release));
      await withDeadline(released, GOODBYE_WITHIN_MS, () => new Error('No answer.')).catch(() => undefined);
    }
    await this.connection.close();
  }

  /** end gives the session up at once; everybody whose name it held is told the reason. */
  end(reason: Error): void {
    if (this.ending) return;
    const lost = this.held.clear();
    this.stop(reason);
    this.connection.destroy(reason);
    for (const stake of lost) stake.lost(reason);
  }

  /** onEnd calls `listener` once when the session is given up or closed. */
  onEnd(listener: () => void): void {
    this.endListeners.push(listener);
  }

  /** prove asks the session for everything that it should hold. It never rejects: any doubt ends the session. */
  async prove(): Promise<void> {
    const onAnswer = (rows: readonly ProveLocksRow[]) => this.judge(rows[0]);
    try {
      await this.send(proveLocks.bind(this.schema, {}), { onAnswer });
    } catch (error) {
      // A transaction that has failed refuses to look. That it answers is proof enough: nothing can be unlocked in there.
      if (sqlStateOf(error) !== FAILED_TRANSACTION) this.end(asError(error));
    }
  }

  /** send sends one statement after those before it. */
  send<Row>(statement: BoundStatement<Row>, options: SendOptions<Row> = {}): Promise<SqlResult<Row>> {
    return this.proving(async (leftMs) => {
      const deadlineMs = Math.min(leftMs, options.withinMs ?? leftMs);
      const result = await this.connection.query<Row>({ ...statement, deadlineMs });
      options.onAnswer?.(result.rows);
      return result;
    });
  }

  /** tag sends one statement, or several in one text, and answers the command tag of the last. */
  tag(name: string, text: string): Promise<string | undefined> {
    return this.proving((deadlineMs) => this.connection.tag({ deadlineMs, name, text }));
  }

  /** watch sets the heartbeat by what is held now. It needs no timer for the belief's end: no statement, a heartbeat's neither, is waited for longer than that. */
  watch(): void {
    this.heartbeat?.clear();
    const { timings } = this.held;
    if (this.ending || this.held.empty || !timings) return;
    const age = performance.now() - this.provedAt;
    this.heartbeat = startTimer(Math.max(0, timings.heartbeatMs - age), () => this.beat());
  }

  private beat(): void {
    if (this.beating) return;
    this.beating = true;
    void this.prove().finally(() => (this.beating = false));
  }

  private get beliefLeft(): number {
    return Math.max(0, this.provedAt + (this.held.timings?.beliefMs ?? 0) - performance.now());
  }

  /** A process that was frozen, or blocked, may have let the belief end without a heartbeat: then nothing more is asked. */
  private expire(): void {
    if (this.held.empty || this.beliefLeft > 0) return;
    const silentMs = Math.round(performance.now() - this.provedAt);
    this.end(new LeadershipUnprovedError(`the last proof was sent ${silentMs} ms ago`));
  }

  private judge(row: ProveLocksRow | undefined): void {
    if (row?.backend !== this.backend) throw new PoolerError(`${row?.backend} answered instead of ${this.backend}`);
    const missing = this.held.keys.some((key) => !row.objects.includes(String(lockObjectOf(key))));
    if (missing) throw new LeadershipUnprovedError('the server says that its session does not hold the lock');
  }

  /** An error of the server is an answer too. */
  private proving<T>(work: (leftMs: number) => Promise<T>): Promise<T> {
    return this.lane.run(async () => {
      this.expire();
      const leftMs = this.held.empty ? this.options.answerMs : Math.max(1, this.beliefLeft);
      const sentAt = performance.now();
      try {
        return await work(leftMs);
      } finally {
        if (!this.connection.lost) this.proved(sentAt);
      }
    });
  }

  private proved(sentAt: number): void {
    this.provedAt = sentAt;
    this.watch();
  }

  private stop(reason: Error): void {
    this.ending = reason;
    this.watch();
    for (const listener of this.endListeners.splice(0)) listener();
  }
}
