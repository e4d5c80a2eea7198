import { outsideTransactions, startTimer, TransactionSettledError } from '@holdfast/kernel';
import { DutyStoppedError } from '../errors/duty-stopped.error.js';
import { DutyTimedOutError } from '../errors/duty-timed-out.error.js';
import type { DutyContext } from '../ports/duty.js';
import type { Candidate, LeaderTransactionOptions } from '../ports/leadership.js';
import type { DutyEntry } from './duty.registry.js';

/** AttemptEnd is how a run of a duty ended. */
export type AttemptEnd =
  | { readonly type: 'done' }
  /** `returned` is false where the duty goes on after its signal aborted. */
  | { readonly type: 'failed'; readonly error: unknown; readonly returned: boolean };

/** AttemptOptions say who leads, and how long a duty may take to return after its abort. */
export interface AttemptOptions {
  readonly abortWaitMs: number;
  readonly candidate: Candidate;
  readonly lastStartedAt: Date | null;
}

/** DutyAttempt is one run of a duty: its signal, its deadline, and what it is given (S3). */
export class DutyAttempt {
  /** returned resolves when the duty has returned, however late. */
  readonly returned: Promise<void>;
  private readonly aborted = new AbortController();
  private abortedAt: number | undefined;
  /** closed is why nothing more is to be written through the leader's connection: this process may lead again by now, and another run be at it. */
  private closed: Error | undefined;
  private readonly endsAt: number;
  private resolveReturned!: () => void;
  private waitMs: number;

  constructor(
    readonly entry: DutyEntry,
    private readonly options: AttemptOptions,
  ) {
    this.waitMs = options.abortWaitMs;
    this.endsAt = performance.now() + entry.deadlineMs;
    this.returned = new Promise((resolve) => (this.resolveReturned = resolve));
  }

  /** overMs is how long ago the duty was told to stop. */
  get overMs(): number {
    return this.abortedAt === undefined ? 0 : performance.now() - this.abortedAt;
  }

  /** abort tells the duty to stop; `waitMs` is how long it may take to return. */
  abort(reason: Error, waitMs = this.options.abortWaitMs): void {
    if (this.aborted.signal.aborted) return;
    this.waitMs = waitMs;
    this.abortedAt = performance.now();
    // One that is to stop may still write down how far it has come.
    if (!(reason instanceof DutyStoppedError)) this.closed = reason;
    this.aborted.abort(reason);
  }

  /** run calls the duty, and answers when it has returned, or has not in time after its abort. It never rejects. */
  async run(): Promise<AttemptEnd> {
    const { entry } = this;
    const deadline = startTimer(entry.deadlineMs, () =>
      this.abort(new DutyTimedOutError(entry.name, entry.deadlineMs)),
    );
    const work = this.call();
    const patience = this.patience();
    try {
      return await Promise.race([work, patience.over]);
    } finally {
      this.closed ??= new TransactionSettledError();
      deadline.clear();
      patience.end();
    }
  }

  /** What the duty answers after its deadline came too late; what it throws after an abort is because of the abort. */
  private async call(): Promise<AttemptEnd> {
    const { signal } = this.aborted;
    try {
      // A duty is called by nobody's transaction: what it opens is its own.
      await outsideTransactions(async () => this.entry.run(this.context()));
      const late = signal.aborted && signal.reason instanceof DutyTimedOutError;
      return late ? { type: 'failed', error: signal.reason, returned: true } : { type: 'done' };
    } catch (error) {
      return { type: 'failed', error: signal.aborted ? signal.reason : error, returned: true };
    } finally {
      this.resolveReturned();
    }
  }

  private context(): DutyContext {
    const { candidate, lastStartedAt } = this.options;
    return {
      get isLeader() {
        return candidate.isLeader;
      },
      lastStartedAt,
      signal: this.aborted.signal,
      transaction: async (work, options: LeaderTransactionOptions = {}) => {
        if (this.closed) throw this.closed;
        const leftMs = Math.max(1, this.endsAt - performance.now());
        return candidate.transaction(work, { deadlineMs: Math.min(leftMs, options.deadlineMs ?? leftMs) });
      },
    };
  }

  /** patience is over some time after the abort. */
  private patience(): { end: () => void; over: Promise<AttemptEnd> } {
    const { signal } = this.aborted;
    let timer: { clear(): void } | undefined;
    let onAbort: () => void = () => undefined;
    const over = new Promise<AttemptEnd>((resolve) => {
      onAbort = () => {
        const giveUp = () => resolve({ type: 'failed', error: signal.reason as Error, returned: false });
        timer = startTimer(this.waitMs, giveUp);
      };
      signal.addEventListener('abort', onAbort, { once: true });
    });
    return {
      end: () => {
        signal.removeEventListener('abort', onAbort);
        timer?.clear();
      },
      over,
    };
  }
}
