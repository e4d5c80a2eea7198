import { isSerializationFailure, startTimer } from '@holdfast/kernel';
import type { Job } from '../domain/job.js';
import { RunNotFinishedError } from '../errors/run-not-finished.error.js';
import { RunStoppedError } from '../errors/run-stopped.error.js';
import type { DetachedContext } from '../handlers/handler.interface.js';
import { callReporting, readJob, runContext, withReruns, type Execution, type ExecutionTools } from './execution.js';
import { Finish } from './finish.js';
import type { LeaseKeeper } from './lease.keeper.js';
import { readOutcome } from './outcome.reading.js';
import type { Run } from './run.js';
import type { AttemptEnd, RunEnd } from './run.end.js';

type Returned =
  | { readonly type: 'answered'; readonly answer: unknown }
  | { readonly type: 'gone' }
  | { readonly type: 'threw'; readonly error: unknown };

/**
 * DetachedExecution runs a handler that owns its transactions, because it reaches outside the database (R7).
 *
 * No transaction is held; the keeper renews the lease. At the timeout the signal aborts and renewal stops: the attempt is recorded when the handler
 * has returned, and by then another process may have it (R6). A shutdown waits a moment for the handler to see its signal, and gives the job back.
 */
export class DetachedExecution implements Execution {
  constructor(
    private readonly tools: ExecutionTools,
    private readonly keeper: LeaseKeeper,
  ) {}

  async execute(run: Run): Promise<RunEnd> {
    let job: Job<never>;
    try {
      job = await readJob(run);
    } catch (error) {
      return run.stoppedBy ? this.tools.judge.stopped(run, run.stoppedBy) : this.tools.judge.failed(run, error);
    }
    return withReruns(run, this.tools, () => this.attempt(run, job));
  }

  private async attempt(run: Run, job: Job<never>): Promise<AttemptEnd> {
    if (run.stoppedBy) return this.tools.judge.stopped(run, run.stoppedBy);
    if (!run.mayStart) return this.tools.judge.shortOfLease();
    const finish = new Finish(run, this.tools);
    const ctx: DetachedContext = { ...runContext(run, this.tools), finish: finish.call };
    this.keeper.add(run);
    run.startTimeout();
    try {
      const returned = await this.returned(
        run,
        run.call(() => callReporting(run, job, ctx, this.tools)),
      );
      run.noticeTimeout();
      const failed = await finish.unawaited();
      const answered = returned.type === 'answered';
      return this.endOf(run, failed && answered ? { type: 'threw', error: failed.error } : returned, finish);
    } finally {
      run.endTimeout();
    }
  }

  private endOf(run: Run, returned: Returned, finish: Finish): AttemptEnd {
    const { judge, reporter } = this.tools;
    const { stoppedBy } = run;
    if (finish.end) {
      if (returned.type === 'threw' && finish.end.type !== 'lost') {
        reporter.report({ type: 'job.threw_after_finish', error: returned.error, run: run.ref });
      }
      return finish.end;
    }
    run.settled = true;
    // Told to stop, by a shutdown or a cancel, it may have done its work all the same.
    if (stoppedBy && !(run.mayFinish && returned.type === 'answered')) return judge.stopped(run, stoppedBy);
    if (returned.type === 'gone') return judge.stopped(run, new RunStoppedError());
    try {
      if (returned.type === 'threw') throw returned.error;
      return this.recorded(run, returned.answer);
    } catch (error) {
      if (!isSerializationFailure(error)) return judge.failed(run, error, finish.connectionLost);
      run.settled = false;
      return { type: 'rerun', error };
    }
  }

  private recorded(run: Run, answer: unknown): RunEnd {
    if ((answer as { type?: unknown } | null | undefined)?.type === 'finished')
      throw new RunNotFinishedError(run.ref.kind);
    const outcome = readOutcome(answer);
    if (outcome.type === 'refusal') return { type: 'record', settlement: outcome.refusal };
    return { type: 'record', counts: outcome.counts, settlement: outcome.completion };
  }

  /** returned answers how the handler returned; after a shutdown's abort it is waited for no longer than a moment. */
  private returned(run: Run, call: Promise<unknown>): Promise<Returned> {
    return new Promise((resolve) => {
      const aborted = () => {
        if (!(run.stoppedBy instanceof RunStoppedError)) return;
        const timer = startTimer(this.tools.options.abortWaitMs, () => resolve({ type: 'gone' }));
        void run.returned.then(() => timer.clear());
      };
      run.signal.addEventListener('abort', aborted, { once: true });
      const done = (how: Returned) => {
        run.signal.removeEventListener('abort', aborted);
        resolve(how);
      };
      call.then(
        (answer) => done({ type: 'answered', answer }),
        (error: unknown) => done({ type: 'threw', error }),
      );
    });
  }
}
