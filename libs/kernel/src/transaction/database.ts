import type { ClientConfig } from 'pg';
import type { BoundStatement } from '../sql/statement.js';
import type { IsolationLevel, Transaction } from './transaction.js';
import type { PartScope } from './transaction.part.js';

/** BeginOptions say how a transaction starts. */
export interface BeginOptions {
  /** Default READ COMMITTED. */
  readonly isolation?: IsolationLevel;
  readonly readOnly?: boolean;
  /** tenantId is the scope of the transaction; null is the system's. */
  readonly tenantId?: string | null;
  /** settings are set locally to the transaction (`set_config(name, value, true)`), in the same round trip as BEGIN. */
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * boundMs ends the transaction at the server after this long, where the server can (R1). Never looser than the role's own bounds. A function is asked when
   * BEGIN is sent, after the wait for a connection.
   */
  readonly boundMs?: number | (() => number);
  /**
   * shared: the transaction will be handed on with `next`. A text that may hide a COMMIT among other statements is then refused before it is sent: it would
   * commit what others wrote. Default false.
   */
  readonly shared?: boolean;
  /** acquireTimeoutMs bounds the wait for a connection and for BEGIN. Default 10 000. */
  readonly acquireTimeoutMs?: number;
}

/**
 * OpenTransaction is a transaction in the hands of the one who opened it and must end it.
 *
 * Exactly one of commit, rollback and destroy ends it; the connection goes back exactly once, destroyed where it is in doubt (R5).
 */
export interface OpenTransaction {
  /** firstError is the first SQL error inside the transaction: the cause, where later ones only say that it is aborted (R3, K72). */
  readonly firstError: Error | undefined;
  /** lingers: code that comes next in this transaction would find something of the code so far: a setting, an open savepoint, a cursor, a temporary table. */
  readonly lingers: boolean;
  /**
   * lost is set once this transaction's own connection is gone (K14): nothing of it has committed, unless `commit` says CommitUnknownError.
   * It tells a broken connection to PostgreSQL from the socket error of some other service, which looks the same.
   */
  readonly lost: Error | undefined;
  /** state is what the server last said: `open`, `aborted` after a swallowed error, `ended` when somebody else ended it or the connection is gone. */
  readonly state: 'open' | 'aborted' | 'ended';
  /** transaction is what application code gets; after `next` another one. */
  readonly transaction: Transaction;
  /**
   * commit sends `fence` (which must raise when it fences nothing) together with COMMIT in one round trip, and resolves
   * only for the command tag COMMIT (R2). It rejects with the server's error after rolling back, with CommitUnknownError when the answer was
   * lost, with TransactionAbortedError / TransactionEndedError when the transaction cannot commit any more, with ConnectionLostError when
   * the connection was gone before. afterCommit callbacks run on success. Queries that were not awaited are waited for, 30 s at most.
   */
  commit(fence?: BoundStatement<unknown>): Promise<void>;
  /** destroy closes the connection, so that nothing more of it can commit; a no-op once the fence was sent (R6). True when it was destroyed. */
  destroy(reason: Error): boolean;
  /**
   * next hands the transaction on to other code: the handle so far is dead (R4), and a new one begins under the given scope. What sets the scope, and checks that the deferred
   * constraints hold so far, as COMMIT does once more, travels with the first statement of the new part. Where they do not hold that statement fails, and `firstError` says why.
   * Constraints are deferred or not as before. It rejects when the transaction cannot go on; then it can only be rolled back. Queries that were not
   * awaited are waited for, 30 s at most.
   */
  next(scope: PartScope): Promise<void>;
  /** rollback ends the transaction without effect. It never rejects: a connection that cannot roll back is destroyed. */
  rollback(): Promise<void>;
}

/** Database is the port to the application's own database: where its transactions are opened and where control connections are told how to connect. */
export abstract class Database {
  /** identity is the object behind it (a DataSource, a pool): the ambient transaction is kept per identity. */
  abstract readonly identity: object;
  /** poolSize is how many connections the application's pool may open. */
  abstract readonly poolSize: number;
  /** begin opens a transaction on the application's pool, BEGIN and its settings in one round trip. A rejected begin has given its connection back. */
  abstract begin(options?: BeginOptions): Promise<OpenTransaction>;
  /** connectionConfig answers the application's connection settings (TLS, password function included) for a dedicated connection. */
  abstract connectionConfig(): ClientConfig;
}
