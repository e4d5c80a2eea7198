import type { PoolClient } from 'pg';
import type { CheckedOutClient } from '../connection/checked-out.client.js';
import { resultsOf, type PgQuery } from '../sql/pg.types.js';
import { ConnectionLostError } from '../errors/connection-lost.error.js';
import { isConnectionLost, sqlStateOf } from '../errors/sql-state.js';
import { TransactionEndedError } from '../errors/transaction-ended.error.js';
import { TransactionSettledError } from '../errors/transaction-settled.error.js';
import { hidesEnd } from './hidden-end.js';
import { hasChangedSession, hasSetForTransaction, mayChangeSession, openedSavepoints } from './session-change.js';

/** Statements that end the transaction itself; ROLLBACK TO SAVEPOINT does not. Comments in front are looked through. */
const ENDS_TRANSACTION =
  /^(?:\s|--[^\n]*\n|\/\*[^]*?\*\/|;)*(?:commit|end|abort|rollback(?!\s+(?:work\s+|transaction\s+)?to\b)|prepare\s+transaction)\b/i;

type Query = (...args: unknown[]) => unknown;

/** Lead is a text that has to reach the server before the first statement of a gate. */
export interface Lead {
  /** answered is given its answer, when it is sent. */
  readonly answered: (answer: Promise<unknown>) => void;
  readonly text: string;
}

/**
 * TransactionGate stands between application code and the client of its transaction.
 *
 * Everything passes through it, TypeORM's QueryRunner included, so that a query that comes late rejects (R4), COMMIT and ROLLBACK are refused
 * (K31), and the first SQL error is known, where later ones only say that the transaction is aborted (K72). The client itself is not touched.
 */
export class TransactionGate {
  /** client looks like the `pg` client, with every query going through the gate. */
  readonly client: PoolClient;
  private closed = false;
  private error: Error | undefined;
  private readonly inFlight = new Set<Promise<unknown>>();
  private rollbacks = 0;
  private savepoints = 0;
  private setForTransaction = false;
  private tampering: TransactionEndedError | undefined;
  private touchedSession = false;
  /** window is open while a lead and the statement behind it are pipelined; what comes meanwhile waits for it, so that it goes as it always does. */
  private window: Promise<void> | undefined;

  constructor(
    private readonly checkedOut: CheckedOutClient,
    private readonly readOnly: boolean,
    /** shared: others have written in this transaction; what may hide a COMMIT is refused. */
    private readonly shared = false,
    private lead?: Lead,
  ) {
    this.client = this.facade();
  }

  /** dirty tells that the session may keep something of this code (a SET, a lock, a temporary table): its client must not be used again (K31). */
  get dirty(): boolean {
    return this.touchedSession;
  }

  get firstError(): Error | undefined {
    return this.error;
  }

  /** lingers tells that the rest of the transaction would find something of this code: a setting, an open savepoint, a cursor, a temporary table. */
  get lingers(): boolean {
    return this.touchedSession || this.setForTransaction || this.savepoints !== 0;
  }

  /** savepointRollbacks is how often the transaction went back to a savepoint: what was written since that one is undone. */
  get savepointRollbacks(): number {
    return this.rollbacks;
  }

  /** tamper is the refusal that code got which tried to end the transaction, or undefined. */
  get tamper(): TransactionEndedError | undefined {
    return this.tampering;
  }

  close(): void {
    this.closed = true;
  }

  /** idle resolves when nothing is in flight any more. */
  async idle(): Promise<void> {
    while (this.inFlight.size > 0) await Promise.allSettled(this.inFlight);
  }

  query(query: PgQuery): Promise<unknown> {
    return this.pass([query]) as Promise<unknown>;
  }

  private facade(): PoolClient {
    const pass = (...args: unknown[]) => this.pass(args);
    const refuse = () => {
      throw new TransactionEndedError();
    };
    const own: Record<PropertyKey, unknown> = { end: refuse, query: pass, release: refuse };
    return new Proxy(this.checkedOut.client, {
      get: (client, key) => {
        if (Object.hasOwn(own, key)) return own[key];
        const value: unknown = Reflect.get(client, key, client);
        return typeof value === 'function' ? (value as Query).bind(client) : value;
      },
    });
  }

  private onFailure(error: unknown): void {
    if (this.error) return;
    const state = sqlStateOf(error);
    // Refusing writes is what a read-only transaction was asked for; else it says that the server is no primary any more (K33).
    const refusedWrite = this.readOnly && state === '25006';
    if (this.checkedOut.lost || (isConnectionLost(error) && !refusedWrite))
      this.error = new ConnectionLostError('run a statement', error);
    else if (error instanceof Error && state !== undefined) this.error = error;
  }

  private onSuccess(text: string, answer: unknown): void {
    // A statement that succeeds in a transaction that had failed was a rollback to a savepoint: the error is overcome.
    if (this.error && this.checkedOut.status === 'T') this.error = undefined;
    const tags = resultsOf(answer).map((result) => result?.command);
    if (hasChangedSession(text, tags)) this.touchedSession = true;
    if (hasSetForTransaction(text, tags)) this.setForTransaction = true;
    this.savepoints += openedSavepoints(tags);
    // A ROLLBACK of the transaction itself is refused.
    if (tags.includes('ROLLBACK')) this.rollbacks += 1;
  }

  private pass(args: unknown[]): unknown {
    const text = textOf(args[0]);
    const refusal = this.refusalOf(text);
    if (!refusal && mayChangeSession(text)) this.touchedSession = true;
    const callback = args.findLastIndex((arg) => typeof arg === 'function');
    if (callback > 0) return this.passWithCallback(args, callback, text, refusal);
    if (refusal) return refuse(args[0], refusal);
    const answer = this.send(args);
    if (!isPromise(answer)) return answer;
    const watched = answer.then(
      (result: unknown) => {
        this.inFlight.delete(watched);
        this.onSuccess(text, result);
        return result;
      },
      (error: unknown) => {
        this.inFlight.delete(watched);
        this.onFailure(error);
        throw error;
      },
    );
    this.inFlight.add(watched);
    return watched;
  }

  private passWithCallback(args: unknown[], at: number, text: string, refusal: Error | undefined): unknown {
    const callback = args[at] as (error: unknown, result?: unknown) => void;
    if (refusal) return void process.nextTick(callback, refusal);
    const watched = args.with(at, (error: unknown, result: unknown) => {
      if (error) this.onFailure(error);
      else this.onSuccess(text, result);
      callback(error, result);
    });
    return this.send(watched);
  }

  private refusalOf(text: string): Error | undefined {
    if (this.closed) return new TransactionSettledError();
    if (!ENDS_TRANSACTION.test(text) && !(this.shared && hidesEnd(text))) return undefined;
    this.tampering ??= new TransactionEndedError();
    return this.tampering;
  }

  private send(args: unknown[]): unknown {
    const { client } = this.checkedOut;
    const query = () => (client.query.bind(client) as Query)(...args);
    const plain = !isSubmittable(args[0]);
    if (this.window && plain) return this.window.then(query);
    return this.lead
      ? this.sendLed(this.lead, query, plain && !args.some((arg) => typeof arg === 'function'))
      : query();
  }

  private sendLed({ answered, text }: Lead, query: () => unknown, piped: boolean): unknown {
    this.lead = undefined;
    const { answer, behind, over } = this.checkedOut.sendAhead(text, query, piped);
    answered(answer);
    if (over) this.window = over.then(() => (this.window = undefined));
    return behind;
  }
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | undefined)?.then === 'function';
}

/** A cursor or a stream, which answers itself and not a promise. */
function isSubmittable(query: unknown): boolean {
  return typeof (query as { submit?: unknown } | null | undefined)?.submit === 'function';
}

/** A cursor or stream is no promise: nobody would look at a rejection. */
function refuse(query: unknown, refusal: Error): Promise<never> {
  if (isSubmittable(query)) throw refusal;
  return Promise.reject(refusal);
}

function textOf(query: unknown): string {
  if (typeof query === 'string') return query;
  const text = (query as { text?: unknown } | null | undefined)?.text;
  return typeof text === 'string' ? text : '';
}
