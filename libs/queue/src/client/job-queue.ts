import {
  ambientTransaction,
  type Database,
  executorOf,
  property,
  type SqlExecutor,
  type Transaction,
  type TransactionHandle,
  type TransactionHost,
} from '@holdfast/kernel';
import { type AnyJobDefinition, isJobDefinition, type PayloadInputOf } from '../domain/definition.js';
import {
  type EncodedRequest,
  encodeRequest,
  type EncodingContext,
  type Enqueued,
  jobRequest,
  type JobRequest,
} from '../domain/request.js';
import { AmbiguousTransactionError } from '../errors/ambiguous-transaction.error.js';
import { BatchTooLargeError } from '../errors/batch-too-large.error.js';
import { InvalidRequestError } from '../errors/invalid-request.error.js';
import { NoTransactionError } from '../errors/no-transaction.error.js';
import { NotADefinitionError } from '../errors/not-a-definition.error.js';
import { RefusedRequestError } from '../errors/refused-request.error.js';
import { EventStream } from '../ports/event.stream.js';
import type { JobStore } from '../ports/job-store.js';
import type { Reporter } from '../ports/reporter.js';
import type { EnqueueOptions, JoinOptions } from './enqueue.options.js';
import { type Answered, EnqueueTally } from './enqueue.tally.js';

/** A batch becomes one array of each column: text of this size is escaped in memory once more, and the server takes 1 GB at most. */
const MAX_BATCH_BYTES = 64 * 1024 * 1024;

/** JobQueueOptions are what a process adds to every request. */
export interface JobQueueOptions {
  readonly database: Database;
  /** enqueued is called when a job that is due now was committed by a transaction of Holdfast's; default nobody is told. */
  readonly enqueued?: () => void;
  /** maxAttemptsOf answers this deployment's override for a kind, or undefined. */
  readonly maxAttemptsOf: (kind: string) => number | undefined;
  readonly payloadLimitBytes: number;
  /** reporter is told of what was enqueued; default nobody. `events` tells it too. */
  readonly reporter?: Reporter | undefined;
  readonly store: JobStore;
  readonly tenancy: boolean;
  /** transactionHost knows of open transactions of the application's other tools (T4); default none. */
  readonly transactionHost?: TransactionHost | undefined;
}

/**
 * JobQueue is what producers inject: it enqueues in the transaction that is open, so that a job commits or vanishes with the caller's
 * writes (Q1).
 *
 * Ambient inside `unitOfWork.run`, attached handlers and `ctx.finish`, and where the `transactionHost` has one open (T4); `{ in }` elsewhere. With
 * none of these it throws NoTransactionError, and AmbiguousTransactionError with two of them: it never takes a connection of its own unless it is told
 * `{ in: 'own' }`. A request that cannot be stored is refused with a RefusedRequestError before any SQL is sent (Q2).
 */
export class JobQueue {
  /** events hands on `job.enqueued`, after the commit where the transaction is Holdfast's (M4). */
  readonly events = new EventStream();
  /** announced transactions will tell of their commit. */
  private readonly announced = new WeakSet<object>();

  private readonly tally = new EnqueueTally((event) => {
    this.events.report(event);
    try {
      this.options.reporter?.report(event);
    } catch {
      // A reporter must not be able to change what came of an enqueue.
    }
  });

  constructor(private readonly options: JobQueueOptions) {}

  /** enqueue asks for one job and answers an id that can be polled from the caller's commit on (Q4). */
  enqueue<D extends AnyJobDefinition>(
    definition: D,
    payload: PayloadInputOf<D>,
    options?: EnqueueOptions,
  ): Promise<Enqueued>;
  enqueue(request: JobRequest, options?: JoinOptions): Promise<Enqueued>;
  async enqueue(asked: AnyJobDefinition | JobRequest, second?: unknown, third: EnqueueOptions = {}): Promise<Enqueued> {
    if (isJobDefinition(asked)) {
      const { in: handle, ...options } = third;
      return this.enqueueOne(jobRequest(asked, second, options), handle);
    }
    if (!isJobDefinition((asked as Partial<JobRequest> | null | undefined)?.definition))
      throw new NotADefinitionError(asked);
    return this.enqueueOne(asked, handleOf(asked.definition.kind, second));
  }

  /**
   * enqueueMany asks for many jobs in a constant number of statements, all or nothing, and answers in their order (Q8).
   *
   * A refusal says by `index`, and in its message, which request it was. Payloads, kinds, keys and tenants of a batch are 64 MiB together at
   * most, because they travel as one parameter each: BatchTooLargeError otherwise, before any SQL is sent.
   */
  async enqueueMany(requests: readonly JobRequest[], options: JoinOptions = {}): Promise<Enqueued[]> {
    const [first] = requests;
    if (first === undefined) return [];
    const kind = (first as Partial<JobRequest> | null)?.definition?.kind ?? '?';
    const target = this.targetOf(handleOf(kind, options), kind);
    const encoded: EncodedRequest[] = [];
    let bytes = 0;
    for (const [index, request] of requests.entries()) {
      const one = await this.encodeAt(index, request, target.tenantId);
      bytes += bytesOf(one);
      if (bytes > MAX_BATCH_BYTES && index > 0) throw new BatchTooLargeError(one.kind, MAX_BATCH_BYTES).at(index);
      encoded.push(one);
    }
    return this.send(encoded, target);
  }

  private contextFor(kind: string, tenantId: string | null): EncodingContext {
    const { maxAttemptsOf, payloadLimitBytes, tenancy } = this.options;
    return { maxAttempts: maxAttemptsOf(kind), payloadLimitBytes, tenancy, tenantId };
  }

  private async encodeAt(index: number, request: JobRequest, tenantId: string | null): Promise<EncodedRequest> {
    try {
      if (!isJobDefinition((request as Partial<JobRequest> | null | undefined)?.definition))
        throw new NotADefinitionError(request);
      return await encodeRequest(request, this.contextFor(request.definition.kind, tenantId));
    } catch (error) {
      throw error instanceof RefusedRequestError ? error.at(index) : error;
    }
  }

  private async enqueueOne(request: JobRequest, handle: TransactionHandle | 'own' | undefined): Promise<Enqueued> {
    const { kind } = request.definition;
    const target = this.targetOf(handle, kind);
    const encoded = await encodeRequest(request, this.contextFor(kind, target.tenantId));
    const [enqueued] = await this.send([encoded], target);
    return enqueued!;
  }

  /** announce tells of what is due now when its transaction commits, once for each; of other tools' transactions nobody learns. */
  private announce(requests: readonly EncodedRequest[], { transaction }: Target): void {
    const { enqueued } = this.options;
    if (!enqueued || !transaction || this.announced.has(transaction) || !requests.some(isDueNow)) return;
    transaction.afterCommit(enqueued);
    this.announced.add(transaction);
  }

  private async send(requests: readonly EncodedRequest[], target: Target): Promise<Enqueued[]> {
    const { enqueued, store } = this.options;
    const { executor } = target;
    if (!executor) {
      const answers = await store.enqueueNow(requests);
      if (requests.some(isDueNow)) enqueued?.();
      this.tally.own(requests, answers);
      return answers;
    }
    // Before it is sent: a transaction that is being committed waits for it, and takes no callback any more.
    this.announce(requests, target);
    const { transaction } = target;
    const answered: Answered = transaction ? this.tally.within(transaction) : this.tally.ofOthers;
    const answers =
      requests.length > 1 ? await store.enqueueMany(requests, executor) : [await store.enqueue(requests[0]!, executor)];
    answered(requests, answers);
    return answers;
  }

  /** The transaction is found before anything is awaited: it is the one that was open when the caller asked. */
  private targetOf(handle: TransactionHandle | 'own' | undefined, kind: string): Target {
    const ambient = ambientTransaction(this.options.database.identity);
    const own = transactionOf(handle);
    const tenantId = this.options.tenancy ? (own?.tenantId ?? ambient?.tenantId ?? null) : null;
    if (handle === 'own' || !this.options.store.transactions)
      return { executor: undefined, tenantId, transaction: undefined };
    if (handle !== undefined) return { executor: executorOf(handle), tenantId, transaction: own };
    const hosted = this.options.transactionHost?.current();
    // Which of the two was opened inside the other cannot be told, and a wrong guess would commit the job apart from its writes.
    if (ambient && hosted) throw new AmbiguousTransactionError(kind);
    if (hosted) return { executor: executorOf(hosted), tenantId, transaction: transactionOf(hosted) };
    if (ambient === undefined) throw new NoTransactionError(kind);
    return { executor: executorOf(ambient), tenantId, transaction: ambient };
  }
}

interface Target {
  /** executor of the transaction to join; undefined for one of its own. */
  readonly executor: SqlExecutor | undefined;
  readonly tenantId: string | null;
  /** transaction is the one to join where it is Holdfast's own. */
  readonly transaction: Transaction | undefined;
}

function bytesOf({ dedupeKey, kind, payloadJson, tenantId }: EncodedRequest): number {
  const lengths = [kind, payloadJson, dedupeKey ?? '', tenantId ?? ''].map((text) => Buffer.byteLength(text));
  return lengths.reduce((sum, length) => sum + length, 0);
}

/** A request has its options already: one that is given beside it would quietly do nothing. */
function handleOf(kind: string, options: unknown): JoinOptions['in'] {
  const given = (options ?? {}) as JoinOptions;
  const other = Object.keys(given).find((name) => name !== 'in');
  if (other !== undefined)
    throw new InvalidRequestError(kind, other, 'is no option here: give it to definition.request(payload, options)');
  return given.in;
}

function isDueNow({ dueAt, dueInMs }: EncodedRequest): boolean {
  return dueAt === null && dueInMs === null;
}

/** A transaction of Holdfast knows its tenant; with any other handle the unit of work around the call decides. */
function transactionOf(handle: TransactionHandle | 'own' | undefined): Transaction | undefined {
  const opened = typeof property(handle, 'rollback') === 'function' ? property(handle, 'transaction') : undefined;
  const transaction = opened ?? handle;
  const own = property(transaction, 'sql') !== undefined && typeof property(transaction, 'afterCommit') === 'function';
  return own ? (transaction as Transaction) : undefined;
}
