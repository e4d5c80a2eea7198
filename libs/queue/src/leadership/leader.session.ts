import { AsyncLocalStorage } from 'node:async_hooks';
import { ConnectionLostError, isConnectionLost, StatementDeadlineError } from '@holdfast/kernel';
import { NestedLeaderTransactionError } from '../errors/nested-leader-transaction.error.js';
import { NotLeaderError } from '../errors/not-leader.error.js';
import { PoolerError } from '../errors/pooler.error.js';
import { UnlockFailedError } from '../errors/unlock-failed.error.js';
import { asError } from './as-error.js';
import { Lane } from './lane.js';
import { LeaderTransaction, type TransactionWork } from './leader.transaction.js';
import type { ProvenConnection } from './proven.connection.js';
import { acquireLock, type AcquireLockRow } from './sql/acquire-lock.sql.js';
import { releaseLock } from './sql/release-lock.sql.js';
import type { Stake } from './stake.js';

/** The longest that giving a name up may take, whatever the tick is: a shutdown waits for it. */
const RELEASE_WITHIN_MS = 2_000;

/** LeaderSession takes names, gives them up and runs transactions, one after another, on the one session that holds them (L1). */
export class LeaderSession {
  /** inside is the transaction in whose work the calling code runs. */
  private readonly inside = new AsyncLocalStorage<LeaderTransaction>();
  private transactionNow: { readonly stake: Stake; readonly transaction: LeaderTransaction } | undefined;
  private readonly turns = new Lane();

  constructor(private readonly connection: ProvenConnection) {
    connection.onEnd(() => this.transactionNow?.transaction.abandon());
  }

  /** ended is the reason why nothing is to be had of this session any more, or undefined. */
  get ended(): Error | undefined {
    return this.connection.ended;
  }

  beliefLeftMs(stake: Stake): number {
    return this.connection.beliefLeftMs(stake);
  }

  /** close gives up everything and says goodbye. It never rejects. */
  close(): Promise<void> {
    return this.connection.close();
  }

  /** give gives a name up; where that cannot be proved the session is ended (K107). It never rejects. */
  async give(stake: Stake): Promise<void> {
    // What is open for this name will not commit, and lets its turn go.
    if (this.transactionNow?.stake === stake) this.transactionNow.transaction.abandon();
    const late = () => new Error('The session was not free in time.');
    try {
      await this.turns.run(() => this.unlock(stake), { late, withinMs: RELEASE_WITHIN_MS });
    } catch (cause) {
      // With the session its locks are gone.
      if (this.ended || isConnectionLost(cause)) return this.connection.end(asError(cause));
      const reason = new UnlockFailedError(stake.name, { cause });
      this.connection.end(reason);
      stake.lost(reason);
    }
  }

  /** prove answers whether the session proved that it holds the name. It never rejects. */
  async prove(stake: Stake): Promise<boolean> {
    if (this.beliefLeftMs(stake) > 0) await this.connection.prove();
    return this.beliefLeftMs(stake) > 0;
  }

  /**
   * take tries to take a name; what is held is proved instead. False where somebody else has it, or a transaction for another name the session. What
   * fails here may have taken it: the session is ended.
   */
  async take(stake: Stake): Promise<boolean> {
    const late = new Error('The session was not free in time.');
    const turn = this.turns.run(() => this.lock(stake), { late: () => late, withinMs: stake.tickMs / 2 });
    await turn.catch((error: unknown) => {
      if (error !== late) throw error;
    });
    return stake.wanted && this.beliefLeftMs(stake) > 0;
  }

  /** transaction runs `work` and commits behind the fence of this name. Inside another one it would wait for itself: NestedLeaderTransactionError. */
  async transaction<T>(stake: Stake, work: TransactionWork<T>, deadlineMs: number): Promise<T> {
    if (this.inside.getStore()?.open) throw new NestedLeaderTransactionError(stake.name);
    const endsAt = performance.now() + deadlineMs;
    const late = () => new NotLeaderError(stake.name, { cause: new Error('The session was not free in time.') });
    const turn = async () => {
      const transaction = new LeaderTransaction(this.connection, stake, endsAt);
      this.transactionNow = { stake, transaction };
      const inside: TransactionWork<T> = (executor) => this.inside.run(transaction, () => work(executor));
      return transaction.run(inside).finally(() => (this.transactionNow = undefined));
    };
    return this.turns.run(turn, { late, withinMs: deadlineMs });
  }

  private async ask(stake: Stake): Promise<void> {
    const { backend, held, schema } = this.connection;
    const onAnswer = ([row]: readonly AcquireLockRow[]) => {
      if (row?.backend !== backend) throw new PoolerError(`${row?.backend} answered instead of ${backend}`);
      if (row.standby) throw new ConnectionLostError('take the lead', new Error('The server is a standby.'));
      if (row.acquired) held.add(stake);
    };
    const params = { backend, key: stake.key, silence: held.silenceWith(stake) };
    await this.connection.send(acquireLock.bind(schema, params), { onAnswer });
  }

  private async lock(stake: Stake): Promise<void> {
    const { connection } = this;
    if (!stake.wanted) return;
    if (connection.held.has(stake)) return connection.prove();
    // With a smaller tick what is held already is believed for a shorter time: it needs a proof as fresh.
    if ((connection.held.tickMs ?? 0) > stake.tickMs) await connection.prove();
    try {
      await connection.held.whilePending(stake, () => this.ask(stake));
    } catch (error) {
      connection.end(asError(error));
      throw error instanceof StatementDeadlineError ? new ConnectionLostError('take the lead', error) : error;
    } finally {
      connection.watch();
    }
  }

  private async unlock(stake: Stake): Promise<void> {
    const { held, schema } = this.connection;
    if (this.ended || !held.has(stake)) return;
    held.remove(stake);
    const params = { key: stake.key, silence: held.silenceWith() };
    const release = releaseLock.bind(schema, params);
    const withinMs = RELEASE_WITHIN_MS;
    const { rows } = await held.whilePending(stake, () => this.connection.send(release, { withinMs }));
    this.connection.watch();
    if (rows[0]?.released !== true) throw new Error('pg_advisory_unlock answered false.');
  }
}
