import type { SqlExecutor, SqlResult, Transaction } from '@holdfast/kernel';
import type { JobQueue } from '../../client/job-queue.js';
import type { Outcome } from '../../domain/outcome.js';
import { RunSettledError } from '../../errors/run-settled.error.js';
import { RunStoppedError } from '../../errors/run-stopped.error.js';
import type { AttachedContext, DetachedContext, Finished } from '../../handlers/handler.interface.js';
import { readOutcome } from '../../runner/outcome.reading.js';
import { KitError } from './kit.errors.js';
import { recordedQueue, type RecordedRequest } from './recorded.queue.js';

/** FakeContextOptions are what a fake context is made of. */
export interface FakeContextOptions {
  /** manager is the EntityManager that `tx.manager` answers. Default none. */
  readonly manager?: unknown;
  /** sql answers the statements of `tx.sql`. Default it rejects: a handler that uses the database is tested with `runHandler`. */
  readonly sql?: SqlExecutor | ((text: string, values: readonly unknown[]) => readonly object[]);
  /** tenantId of the transaction. Default null. */
  readonly tenantId?: string | null;
}

/** FakeRecord is what a fake context keeps of its handler. */
export interface FakeRecord {
  /** abort aborts the signal, as a shutdown does, or with another reason. */
  abort(reason?: Error): void;
  /** commit calls what was given to `tx.afterCommit`, as a commit does. */
  commit(): Promise<void>;
  /** enqueued is what was asked of `jobs`, in order. */
  readonly enqueued: readonly RecordedRequest[];
  /** holds is how often `ctx.hold()` was called. */
  readonly holds: number;
  /** jobs is a JobQueue for the handler's constructor: it checks requests as always, and writes none. */
  readonly jobs: JobQueue;
  /** reports are the fractions of `ctx.report(…)`. */
  readonly reports: readonly number[];
  /** statements are what was sent through `tx.sql`. */
  readonly statements: readonly { readonly text: string; readonly values: readonly unknown[] }[];
}

/** FakeAttachedContext is an AttachedContext for a handler's unit test. */
export type FakeAttachedContext = AttachedContext & FakeRecord;

/** FakeDetachedContext is a DetachedContext for a handler's unit test. */
export type FakeDetachedContext = DetachedContext &
  FakeRecord & {
    /** finished is the outcome of `ctx.finish`, or undefined. */
    readonly finished: Outcome | undefined;
  };

/**
 * fakeContext makes the context of a handler for a unit test without a database: `await handler.run(job, fakeContext('attached'))`.
 *
 * It keeps what the handler did with it: holds, reports, finishes, statements, and through `jobs` what it enqueued. It commits and fences nothing: whether
 * writes and completion belong together only `runHandler` can show.
 */
export function fakeContext(kind: 'attached', options?: FakeContextOptions): FakeAttachedContext;
export function fakeContext(kind: 'detached', options?: FakeContextOptions): FakeDetachedContext;
export function fakeContext(
  kind: 'attached' | 'detached',
  options: FakeContextOptions = {},
): FakeAttachedContext | FakeDetachedContext {
  const fake = new FakeRun(options);
  return kind === 'attached' ? fake.attached() : fake.detached();
}

class FakeRun {
  private readonly afterCommits: (() => void | Promise<void>)[] = [];
  private readonly controller = new AbortController();
  private readonly enqueued: RecordedRequest[] = [];
  private finished: Outcome | undefined;
  private finishing = false;
  private holds = 0;
  private readonly reports: number[] = [];
  private readonly statements: { text: string; values: readonly unknown[] }[] = [];
  private readonly tx: Transaction;

  constructor(private readonly options: FakeContextOptions) {
    const { manager, tenantId = null } = options;
    const tx = {
      afterCommit: (fn: () => void | Promise<void>) => void this.afterCommits.push(fn),
      sql: { query: (text: string, values: readonly unknown[] = []) => this.query(text, values) },
      tenantId,
    };
    this.tx = (manager === undefined ? tx : { ...tx, manager }) as unknown as Transaction;
  }

  attached(): FakeAttachedContext {
    return this.withRecord({ tx: this.tx });
  }

  detached(): FakeDetachedContext {
    const context = this.withRecord({
      finish: (work: ((tx: Transaction) => Promise<Outcome | void>) | Outcome) => this.finish(work),
    });
    return Object.defineProperty(context, 'finished', { enumerable: true, get: () => this.finished }) as never;
  }

  private async finish(work: ((tx: Transaction) => Promise<Outcome | void>) | Outcome): Promise<Finished> {
    if (this.finished || this.finishing) throw new RunSettledError('ctx.finish');
    this.finishing = true;
    try {
      const answer = typeof work === 'function' ? await work(this.tx) : work;
      readOutcome(answer);
      this.finished = answer ?? { type: 'done' };
      return { type: 'finished' };
    } finally {
      this.finishing = false;
    }
  }

  private async query<Row>(text: string, values: readonly unknown[]): Promise<SqlResult<Row>> {
    this.statements.push({ text, values });
    const { sql } = this.options;
    if (typeof sql === 'function') {
      const rows = sql(text, values) as readonly Row[];
      return { rowCount: rows.length, rows: [...rows] };
    }
    if (sql) return sql.query<Row>(text, values);
    throw new KitError(
      'A fake context has no database: give fakeContext(kind, { sql }), or test the handler with runHandler.',
    );
  }

  private withRecord<T extends object>(context: T) {
    const holds = () => this.holds;
    return {
      ...context,
      abort: (reason: Error = new RunStoppedError()) => this.controller.abort(reason),
      commit: async () => {
        for (const callback of this.afterCommits.splice(0)) await callback();
      },
      enqueued: this.enqueued,
      hold: () => {
        this.holds += 1;
        return Promise.resolve();
      },
      get holds() {
        return holds();
      },
      jobs: recordedQueue(this.enqueued, this.options.tenantId !== undefined),
      report: (fraction: number) => {
        this.reports.push(fraction);
        return Promise.resolve();
      },
      reports: this.reports,
      signal: this.controller.signal,
      statements: this.statements,
    };
  }
}
