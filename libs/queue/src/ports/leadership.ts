import type { SqlExecutor } from '@holdfast/kernel';

/** CandidateOptions say how a name is stood for. */
export interface CandidateOptions {
  /**
   * tickMs is how often the leader proves itself and the others look whether the name is free. Everything else follows from it: a proof is believed
   * for 0.6 of it, and a leader that is not heard of for 0.8 of the smallest tick of its process is freed by the server (L2).
   */
  readonly tickMs: number;
}

/** LeaderTransactionOptions bound a transaction through the leader's connection. */
export interface LeaderTransactionOptions {
  /**
   * deadlineMs bounds the whole of it, waiting its turn included. Default: one tick. Each statement has a quarter of a tick, after which the server
   * cancels it: what a leader writes is small.
   */
  readonly deadlineMs?: number;
}

/** Leadership is the port: of all processes that stand for a name, at most one acts (L1–L4). */
export abstract class Leadership {
  /** connections answers how many connections of its own it holds at most, by what they carry (R19). */
  abstract get connections(): Readonly<Record<string, number>>;

  /**
   * candidate stands for `name`, without sending anything yet. Throws DuplicateCandidateError when this Leadership has a candidate of that name that
   * has not been released (K107), InvalidCandidateError for a name that is empty, over 200 characters or not plain text, or a tick below 100 ms or
   * over a day, and LeadershipClosedError after `close`.
   */
  abstract candidate(name: string, options: CandidateOptions): Candidate;

  /** close gives up every name and ends the connection. It never rejects (K120); afterwards nobody is leader and no candidate can be had. */
  abstract close(): Promise<void>;
}

/** Candidate stands for one name: the leader of it, or one of those who wait. */
export interface Candidate {
  /** beliefLeftMs is for how long `isLeader` stays true without another proof; 0 when it is not the leader. */
  readonly beliefLeftMs: number;
  /** isLeader: held, and proved less than 0.6 tick ago, counted from the send of the proof by the monotonic clock (L2). Start nothing without it (L3). */
  readonly isLeader: boolean;
  readonly name: string;

  /**
   * acquire tries to take the name and answers whether this is its leader now. What is held is not taken a second time, but proved (L1). One that was
   * released stands again. Within about a tick, whatever happens.
   *
   * Rejects with PoolerError behind a transaction-mode pooler (L4); with ConnectionLostError when no connection is to be had, no answer came or the
   * server is a standby; with the server's own error where it refuses the statement; with DuplicateCandidateError when it had been released and
   * another stands by now; with LeadershipClosedError after `close`.
   */
  acquire(): Promise<boolean>;

  /** confirm proves on the leader's session that the name is held, and answers whether; any doubt is false and ends the leadership. It never rejects (L2). */
  confirm(): Promise<boolean>;

  /**
   * onLost calls `listener` each time leadership is lost; the answer takes it off again. Not when it is released, unless that failed
   * (UnlockFailedError, K107), and not at `close`.
   */
  onLost(listener: (reason: Error) => void): () => void;

  /** release gives the name up at once, and stands no more: another candidate may. It never rejects (K107, K120). */
  release(): Promise<void>;

  /**
   * transaction runs `work` and commits through the session that holds the name: it cannot commit once leadership is lost (L3).
   *
   * Throws NotLeaderError when this is not the leader, or not any more when it is to commit, whatever failed first (then the `cause`); at once, without
   * waiting for `work`. CommitUnknownError when the answer to COMMIT was lost, TransactionAbortedError when a failed statement was caught;
   * NestedLeaderTransactionError at once inside another one of this Leadership; InvalidDeadlineError, before anything is sent, for a deadline that is none. READ COMMITTED; it joins no other transaction, and `executor` is dead afterwards.
   */
  transaction<T>(work: (executor: SqlExecutor) => Promise<T>, options?: LeaderTransactionOptions): Promise<T>;
}
