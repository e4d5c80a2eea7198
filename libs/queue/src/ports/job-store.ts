import type { OpenTransaction, SqlExecutor } from '@holdfast/kernel';
import type { CancelAnswer, CancelOptions } from '../domain/cancel.answer.js';
import type { DeclaredEnding } from '../domain/on-end.js';
import type { Lease } from '../domain/lease.js';
import type { EncodedRequest, Enqueued } from '../domain/request.js';
import type { Completion, Settlement } from '../domain/settlement.js';

/** KindClaim is how much of one kind a claim may take, and how long its lease is. */
export interface KindClaim {
  readonly kind: string;
  readonly leaseMs: number;
  /** limit is the most jobs of this kind in this claim: the free part of its concurrency. */
  readonly limit: number;
}

/** ClaimOrder asks for due jobs (Q11). */
export interface ClaimOrder {
  /** fullLook ignores what earlier claims remembered of the head of the index; every poll and wake looks in full (Q14). */
  readonly fullLook: boolean;
  /** kinds in the order in which they are looked at; the caller rotates it, so that no kind starves another. */
  readonly kinds: readonly KindClaim[];
  /** limit is the most jobs of this claim. */
  readonly limit: number;
  readonly owner: string;
  /** token is a new UUID made by the caller for this claim alone: a claim whose answer was lost is given back by it (R5). */
  readonly token: string;
}

/** ClaimedJob is a job that this process holds under a lease. */
export interface ClaimedJob {
  readonly attempt: number;
  readonly createdAt: Date;
  /** deferredMs is how long the outage that this job waits out has lasted by the database's clock, or null (R10). */
  readonly deferredMs: number | null;
  readonly dueAt: Date;
  readonly id: string;
  readonly kind: string;
  readonly lease: Lease;
  readonly leaseMs: number;
  /** losses is how many times in a row the connection was lost in mid-run (R5). */
  readonly losses: number;
  readonly maxAttempts: number | null;
  /** payload is what was stored, parsed as JSON, not yet decoded or validated. */
  readonly payload: unknown;
  readonly payloadVersion: number;
  readonly priority: number;
  /** suspect: its last attempt ended by lease expiry; it runs with nothing else running in this process (Q12). */
  readonly suspect: boolean;
  readonly tenantId: string | null;
  /** waitedMs is due to claimed, by the database's clock, never negative. */
  readonly waitedMs: number;
}

/** ReapResult counts what was taken back from leases that ran out (Q12). */
export interface ReapResult {
  /** cancelled: asked to be, and without a run that could end them (R16). */
  readonly cancelled: readonly { id: string; kind: string }[];
  readonly deadLettered: readonly { id: string; kind: string }[];
  readonly returned: readonly { id: string; kind: string }[];
}

/** IntakeResult counts what an intake did with committed requests (Q7). */
export interface IntakeResult {
  /** created jobs, by kind. */
  readonly created: number;
  /** merged into a live job, or satisfied by a run. */
  readonly merged: number;
  /** more: the batch was full, look again at once. */
  readonly more: boolean;
  /** waiting for a run to end (Q6). */
  readonly waiting: number;
}

/**
 * Verdict is what the row tells of an attempt whose end had no answer: `settled` by its completion, which committed; `held` by the same lease, so that nothing
 * of it was written; `expired`: the reaper took the lease. `lost` is none of these: for a completion the lease is lost, for a failure it was recorded.
 */
export type Verdict = 'settled' | 'held' | 'expired' | 'lost';

/** KindDepth is how much is due of a kind. */
export interface KindDepth {
  readonly due: number;
  readonly kind: string;
  readonly oldestDueAgeMs: number;
}

const NONE: readonly string[] = Object.freeze([]);

/**
 * JobStore is the port to the rows: each verb one short transaction of its own on control connections, except where it says otherwise.
 *
 * Every verb has a deadline of its own; a connection that does not answer within it is destroyed (R18). Verbs that end or report on an
 * attempt are fenced by the lease's token and answer which leases they still held (R2).
 */
export abstract class JobStore {
  /** connections answers how many connections of its own the store holds at most, by what they carry (R19). */
  get connections(): Readonly<Record<string, number>> {
    return {};
  }

  /**
   * pausedKinds are the kinds of which it claims nothing because somebody paused them, as its last intake or hasWork saw it (A1); another array only where
   * they have changed.
   */
  get pausedKinds(): readonly string[] {
    return NONE;
  }

  /** transactions: whether jobs can be created and completed inside the application's transactions. */
  abstract readonly transactions: boolean;

  /** adopt marks a transaction that a detached handler opened itself as its run's, so that the fence lets it complete the run (R22). */
  adopt(_transaction: OpenTransaction, _lease: Lease): Promise<void> {
    return Promise.resolve();
  }

  /** cancel ends a pending job or a request as CANCELLED, or asks whoever runs the job to end it (R16). Rejects with JobBusyError. */
  abstract cancel(id: string, options?: CancelOptions): Promise<CancelAnswer>;

  /** cancelsOf answers those of the runs whose job somebody asked to be cancelled (R16). */
  abstract cancelsOf(leases: readonly Lease[]): Promise<Lease[]>;

  /** claim takes due PENDING jobs under new leases: attempt + 1, RUNNING. Never more than the limits (Q11). Suspects are not among them. */
  abstract claim(order: ClaimOrder): Promise<ClaimedJob[]>;

  /** claimSuspect takes one due suspect of the kinds, or nothing (Q12). */
  abstract claimSuspect(order: ClaimOrder): Promise<ClaimedJob | undefined>;

  /** close ends the store's own connections. Idempotent. */
  abstract close(): Promise<void>;

  /**
   * completeIn sends the fenced completion together with COMMIT of an application transaction (R1, R2).
   *
   * Resolves when the server answered COMMIT. Throws LeaseLostError (everything rolled back) when the fence found nothing; CommitUnknownError
   * when the answer was lost; the server's error when COMMIT failed (a deferred constraint), after the rollback.
   */
  abstract completeIn(transaction: OpenTransaction, lease: Lease, completion: Completion): Promise<void>;

  /**
   * completeGroupIn as completeIn, for several runs in one transaction, which carries the group's mark as `holdfast.run` (R21): it commits only when every
   * one of them is fenced. A store without it runs the members of a group one by one.
   */
  completeGroupIn(_transaction: OpenTransaction, _mark: string, _group: readonly LeasedCompletion[]): Promise<void> {
    return Promise.reject(new TypeError('This store completes one job in a transaction.'));
  }

  /**
   * declareEndings says which jobs follow on the ends of these kinds, and takes back what was said of them before (R14). From its return on every end of such a job, by
   * whomever, makes them in the transaction that ends it. A runner says it before it takes its first job.
   */
  abstract declareEndings(kinds: readonly string[], endings: readonly DeclaredEnding[]): Promise<void>;

  /** depth answers the due PENDING jobs of each kind, the given kinds at zero too (S2). */
  abstract depth(kinds: readonly string[]): Promise<KindDepth[]>;

  /** enqueue writes one request through the caller's executor, so that it joins the caller's transaction; one round trip (Q1, Q4). */
  abstract enqueue(request: EncodedRequest, executor: SqlExecutor): Promise<Enqueued>;

  /** enqueueMany as enqueue, in a constant number of statements, answers in order (Q8). */
  abstract enqueueMany(requests: readonly EncodedRequest[], executor: SqlExecutor): Promise<Enqueued[]>;

  /** enqueueNow writes one request in a transaction of the store's own (`{ in: 'own' }`). */
  abstract enqueueNow(requests: readonly EncodedRequest[]): Promise<Enqueued[]>;

  /**
   * ensure writes those of the requests, all with a key, whose key has neither a live job nor a request that becomes one, in a transaction of the
   * store's own, and answers how many. What is there stays as it is. Processes that ask at once take turns, so that a key is written once.
   */
  abstract ensure(requests: readonly EncodedRequest[]): Promise<number>;

  /** giveBackClaim returns every job still held under a claim's token, with its attempt: the answer to that claim was lost (R5). */
  abstract giveBackClaim(token: string): Promise<number>;

  /** hold: from its return on no enqueue of the job's key is satisfied by this run (R11). False when the lease is lost. */
  abstract hold(lease: Lease): Promise<boolean>;

  /** intake turns committed requests into jobs; safe to run in many processes at once (Q7). */
  abstract intake(limit: number): Promise<IntakeResult>;

  /**
   * reap takes back jobs of these kinds whose lease ran out: PENDING and suspect, or DEAD_LETTER (`queue.attempts_exhausted`), or CANCELLED
   * when it was asked for (Q12). A pending job that was asked to be cancelled while it ran ends here as well, of whatever kind (R16).
   */
  abstract reap(kinds: readonly string[], limit: number): Promise<ReapResult>;

  /** renew extends leases in rows of their own, never blocked by a lock on a job row, and answers those still held (R7, Q16). */
  abstract renew(leases: readonly Lease[], leaseMs: number): Promise<Lease[]>;

  /** report writes down how far runs have come, in rows of their own, never blocked by a lock on a job row, and answers the leases still held (R15, Q16). */
  abstract report(reports: readonly LeasedProgress[]): Promise<Lease[]>;

  /**
   * settle ends attempts outside the handler's transaction; fenced; answers for each whether its lease was still held (R2, R5), and `'cancelled'` where the
   * job was asked to be cancelled and its end became that (R16): every verb but `complete` gives way to it.
   */
  abstract settle(settlements: readonly LeasedSettlement[]): Promise<SettleAnswer[]>;

  /** suspectsDue answers how many suspects of the kinds are due (Q12). */
  abstract suspectsDue(kinds: readonly string[]): Promise<number>;

  /** unknownKinds answers live kinds outside the given ones, for the report of Q11; bounded. */
  abstract unknownKinds(kinds: readonly string[]): Promise<string[]>;

  /**
   * hasWork answers whether a look at these kinds would find anything: a request, a due job or suspect, a lease that may have run out, a request
   * to cancel whose run is over. An idle runner
   * asks it at each poll in place of looking (R18, P8). True is always right.
   */
  hasWork(_kinds: readonly string[]): Promise<boolean> {
    return Promise.resolve(true);
  }

  /** verdict answers what became of an attempt whose end had no answer (R2, R3). */
  abstract verdict(lease: Lease, attempt: number): Promise<Verdict>;
}

/** LeasedProgress is how far a run has come, from 0 to 1, with the lease that fences it. */
export interface LeasedProgress {
  readonly fraction: number;
  readonly lease: Lease;
}

/** SettleAnswer: false when the lease was lost and nothing was written. */
export type SettleAnswer = boolean | 'cancelled';

/** LeasedSettlement is a settlement with the lease that fences it. */
export interface LeasedSettlement {
  readonly lease: Lease;
  readonly settlement: Settlement;
}

/** LeasedCompletion is a completion with the lease that fences it. */
export interface LeasedCompletion {
  readonly completion: Completion;
  readonly lease: Lease;
}
