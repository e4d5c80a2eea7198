import { isSerializationFailure } from '@holdfast/kernel';
import type { Job } from '../domain/job.js';
import { callAttached, readJob, withReruns, type Execution, type ExecutionTools } from './execution.js';
import type { ReadOutcome } from './outcome.reading.js';
import type { Run } from './run.js';
import type { AttemptEnd, RunEnd } from './run.end.js';
import { RunTransaction } from './run.transaction.js';

/**
 * AttachedExecution runs a handler inside the transaction that also records its completion (R1).
 *
 * BEGIN with the tenant's scope and a bound at the server → the handler → the fenced completion with COMMIT. Nothing else touches the job's row, so
 * the handler's writes, its follow-up jobs and its "done" commit together or not at all. What fails is rolled back first and recorded afterwards,
 * elsewhere (R5). When the signal aborts (timeout, shutdown, lease lost) the connection is destroyed at once: the attempt is over
 * whatever the handler goes on to do (R6).
 */
export class AttachedExecution implements Execution {
  constructor(private readonly tools: ExecutionTools) {}

  async execute(run: Run): Promise<RunEnd> {
    let job: Job<never>;
    try {
      job = await readJob(run);
    } catch (error) {
      return run.stoppedBy ? this.tools.judge.stopped(run, run.stoppedBy) : this.tools.judge.failed(run, error);
    }
    return this.run(run, job);
  }

  /** run runs a job whose payload has been read. */
  run(run: Run, job: Job<never>): Promise<RunEnd> {
    return withReruns(run, this.tools, () => this.attempt(run, job));
  }

  private async attempt(run: Run, job: Job<never>): Promise<AttemptEnd> {
    const { judge, options } = this.tools;
    if (!run.mayStart) return judge.shortOfLease();
    let transaction: RunTransaction;
    try {
      transaction = await RunTransaction.begin(run, this.tools, run.plan.timeoutMs + options.leases.boundMarginMs);
    } catch (error) {
      return judge.notBegun(run, error);
    }
    // The wait for a connection has cost lease, too.
    if (run.stoppedBy || !run.mayStart) {
      await transaction.rollback();
      return run.stoppedBy ? judge.stopped(run, run.stoppedBy) : judge.shortOfLease();
    }
    run.startTimeout();
    try {
      return await this.inside(run, job, transaction);
    } finally {
      run.endTimeout();
    }
  }

  private async commit(
    run: Run,
    transaction: RunTransaction,
    { completion, counts }: Extract<ReadOutcome, { type: 'completion' }>,
  ): Promise<AttemptEnd> {
    const answer = await transaction.commit(completion);
    if (answer.type === 'committed') return { type: 'committed', completion, counts };
    if (answer.type === 'lost') return answer;
    if (run.stoppedBy) return this.tools.judge.stopped(run, run.stoppedBy);
    if (isSerializationFailure(answer.error)) return { type: 'rerun', error: answer.error };
    return this.tools.judge.failed(run, answer.error, answer.connectionLost);
  }

  private async inside(run: Run, job: Job<never>, transaction: RunTransaction): Promise<AttemptEnd> {
    let outcome: ReadOutcome;
    try {
      outcome = await callAttached(run, job, transaction.open, this.tools);
    } catch (thrown) {
      const failure = await transaction.fail(thrown);
      if (run.stoppedBy) return this.tools.judge.stopped(run, run.stoppedBy);
      if (failure.transient) return { type: 'rerun', error: failure.error };
      return this.tools.judge.failed(run, failure.error, failure.connectionLost);
    }
    if (outcome.type === 'completion') return this.commit(run, transaction, outcome);
    await transaction.rollback();
    return { type: 'record', settlement: outcome.refusal };
  }
}
