import { isSerializationFailure, type OpenTransaction, type Transaction } from '@holdfast/kernel';
import type { Outcome } from '../domain/outcome.js';
import { LeaseLostError } from '../errors/lease-lost.error.js';
import { RunSettledError } from '../errors/run-settled.error.js';
import type { Finished } from '../handlers/handler.interface.js';
import type { CommitAnswer } from './commit.answer.js';
import { renewRun, type ExecutionTools } from './execution.js';
import { readOutcome } from './outcome.reading.js';
import type { Run } from './run.js';
import type { RunEnd } from './run.end.js';
import { RunTransaction } from './run.transaction.js';

const MAX_RERUNS = 3;
const FINISHED: Finished = Object.freeze({ type: 'finished' });

/** Work is what a detached handler does in its finish. */
export type FinishWork = (tx: Transaction) => Promise<Outcome | void>;

/**
 * Finish is `ctx.finish` of one detached run: its writes, its follow-up jobs and the fenced completion in one transaction, after the outside call (R22).
 *
 * It throws what the work threw, after the rollback, and the run goes on: the handler may try again. A serialization failure re-runs the work alone, so
 * that the outside call is not made twice. Once it has settled the run, everything else is refused.
 */
export class Finish {
  /** connectionLost: the last failure was the loss of our own connection. */
  connectionLost = false;
  private current: Promise<unknown> = Promise.resolve();
  private ended: RunEnd | undefined;
  private inFlight = false;

  constructor(
    private readonly run: Run,
    private readonly tools: ExecutionTools,
  ) {}

  /** end is how the run was settled, or undefined. */
  get end(): RunEnd | undefined {
    return this.ended;
  }

  /** unawaited resolves when no finish is in flight, with what one threw that the handler did not wait for: nobody else would learn of it. */
  async unawaited(): Promise<{ readonly error: unknown } | undefined> {
    const { inFlight } = this;
    try {
      await this.current;
    } catch (error) {
      return inFlight ? { error } : undefined;
    }
    return undefined;
  }

  readonly call = (work: FinishWork | Outcome, options?: { readonly in: OpenTransaction }): Promise<Finished> => {
    const refusal = this.refusal();
    if (refusal) return Promise.reject(refusal);
    this.inFlight = true;
    const finished = typeof work === 'function' ? this.perform(work) : this.join(work, options);
    this.current = finished.finally(() => (this.inFlight = false));
    return this.current as Promise<Finished>;
  };

  private async join(outcome: Outcome, options: { readonly in: OpenTransaction } | undefined): Promise<Finished> {
    if (!options)
      throw new TypeError('ctx.finish takes a function, or an outcome with { in: the transaction you opened }.');
    const read = readOutcome(outcome);
    await this.tools.progress.flush(this.run);
    const transaction = RunTransaction.adopt(options.in, this.run, this.tools);
    await this.tools.store.adopt(options.in, this.run.lease);
    if (read.type === 'refusal') {
      await transaction.rollback();
      return this.settle({ type: 'record', settlement: read.refusal });
    }
    const answer = await transaction.commit(read.completion);
    if (answer.type === 'committed')
      return this.settle({ type: 'committed', completion: read.completion, counts: read.counts });
    throw this.failure(answer);
  }

  private async perform(work: FinishWork): Promise<Finished> {
    await this.tools.progress.flush(this.run);
    for (let rerun = 1; ; rerun += 1) {
      const error = await this.tryOnce(work);
      if (error === undefined) return FINISHED;
      if (!error.transient || rerun > MAX_RERUNS || this.run.stoppedBy) throw error.error;
      if (!(await renewRun(this.run, this.tools.store)))
        throw this.failure({ type: 'lost', error: new LeaseLostError(this.run.ref.id) });
      this.tools.reporter.report({ type: 'job.rerun', error: error.error, rerun, run: this.run.ref });
    }
  }

  private failure(answer: Exclude<CommitAnswer, { type: 'committed' }>): unknown {
    if (answer.type === 'lost') this.ended = { type: 'lost', error: answer.error };
    else this.connectionLost = answer.connectionLost;
    return answer.error;
  }

  private refusal(): Error | undefined {
    if (this.ended || this.run.settled || this.inFlight) return new RunSettledError('ctx.finish');
    return this.run.mayFinish ? undefined : this.run.stoppedBy;
  }

  private settle(end: RunEnd): Finished {
    this.ended = end;
    return FINISHED;
  }

  /** tryOnce answers what went wrong, or undefined when the run is settled. */
  private async tryOnce(work: FinishWork): Promise<{ error: unknown; transient: boolean } | undefined> {
    const leftMs = Math.max(0, this.run.plan.timeoutMs - this.run.ranMs);
    const boundMs = leftMs + this.tools.options.leases.boundMarginMs;
    const transaction = await RunTransaction.begin(this.run, this.tools, boundMs, true);
    let read;
    try {
      read = readOutcome(await transaction.perform(() => work(transaction.open.transaction)));
    } catch (thrown) {
      const failure = await transaction.fail(thrown);
      this.connectionLost = failure.connectionLost;
      return failure;
    }
    if (read.type === 'refusal') {
      await transaction.rollback();
      this.settle({ type: 'record', settlement: read.refusal });
      return undefined;
    }
    const answer = await transaction.commit(read.completion);
    if (answer.type !== 'committed') {
      return {
        error: this.failure(answer),
        transient: answer.type === 'failed' && isSerializationFailure(answer.error),
      };
    }
    this.settle({ type: 'committed', completion: read.completion, counts: read.counts });
    return undefined;
  }
}
