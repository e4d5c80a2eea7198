import { runInTransaction, type Database, type OpenTransaction } from '@holdfast/kernel';
import type { Job } from '../domain/job.js';
import { decodePayload } from '../domain/payload.codec.js';
import { LeaseLostError } from '../errors/lease-lost.error.js';
import type { AttachedContext, DetachedContext, RunContext } from '../handlers/handler.interface.js';
import type { JobStore } from '../ports/job-store.js';
import type { Reporter } from '../ports/reporter.js';
import type { FailureJudge } from './failure.judge.js';
import { callHandler } from './handler.call.js';
import { readOutcome, type ReadOutcome } from './outcome.reading.js';
import type { ProgressKeeper } from './progress.keeper.js';
import type { Run } from './run.js';
import type { AttemptEnd, RunEnd } from './run.end.js';
import type { ResolvedRunnerOptions } from './runner.options.js';

/** How often a serialization failure or a deadlock is run again at once (R9). */
const MAX_RERUNS = 3;

/** Execution runs one attempt from its claim to its end. It never rejects. */
export interface Execution {
  execute(run: Run): Promise<RunEnd>;
}

/** ExecutionTools are what the executions share. */
export interface ExecutionTools {
  readonly database: Database;
  readonly judge: FailureJudge;
  readonly options: ResolvedRunnerOptions;
  readonly progress: ProgressKeeper;
  readonly reporter: Reporter;
  readonly store: JobStore;
}

/**
 * callAttached calls a handler inside a transaction, as the ambient one, and reads what it answered. It rejects with what the handler threw, and with why its run
 * was stopped as soon as it is, whatever the handler goes on to do (R6).
 */
export async function callAttached(
  run: Run,
  job: Job<never>,
  { transaction }: OpenTransaction,
  tools: ExecutionTools,
): Promise<ReadOutcome> {
  const ctx: AttachedContext = { ...runContext(run, tools), tx: transaction };
  const call = () => runInTransaction(tools.database.identity, transaction, () => callReporting(run, job, ctx, tools));
  try {
    const answer = await untilAborted(run.call(call), run.signal);
    run.noticeTimeout();
    if (run.stoppedBy) throw run.stoppedBy;
    return readOutcome(answer);
  } catch (thrown) {
    run.noticeTimeout();
    throw thrown;
  }
}

/** callReporting calls a handler, and writes down what it has reported last before anything records its end (R15). */
export async function callReporting(
  run: Run,
  job: Job<never>,
  ctx: AttachedContext | DetachedContext,
  { progress }: ExecutionTools,
): Promise<unknown> {
  try {
    return await callHandler(run.plan, job, ctx);
  } finally {
    await progress.flush(run);
  }
}

/** holdRun is `hold` of a context: throws LeaseLostError when the run no longer holds its job (R11). */
export async function holdRun(run: Run, store: JobStore): Promise<void> {
  if (!(await store.hold(run.lease))) throw new LeaseLostError(run.ref.id);
}

/** runContext is what the context of every run has. */
export function runContext(run: Run, { progress, store }: ExecutionTools): RunContext {
  return {
    hold: () => holdRun(run, store),
    report: async (fraction) => progress.note(run, fraction),
    signal: run.signal,
  };
}

/**
 * readJob makes a claimed row into what its handler gets. Throws UnreadablePayloadError and NewerPayloadError.
 *
 * A codec may ask a key store, and a schema may be asynchronous: the attempt's timeout and a shutdown end the wait for them, too (R6).
 */
export async function readJob(run: Run): Promise<Job<never>> {
  const { claimed, plan } = run;
  const { attempt, createdAt, dueAt, id, kind, maxAttempts, priority, tenantId } = claimed;
  run.startTimeout();
  let payload: never;
  try {
    const reading = decodePayload(plan.entry.definition, claimed.payload, claimed.payloadVersion);
    payload = (await untilAborted(reading, run.signal)) as never;
  } finally {
    run.endTimeout();
  }
  return { attempt, createdAt, dueAt, id, kind, maxAttempts, payload, priority, tenantId };
}

/**
 * renewRun extends a lease now, by its token; false when it is not ours any more. A run of any mode may do so: the reaper honours it.
 * Rejects when the store was not reached.
 */
export async function renewRun(run: Run, store: JobStore): Promise<boolean> {
  return (await renewRuns([run], store)).length > 0;
}

/** renewRuns extends the leases of runs of one kind, as renewRun, and answers the runs that still hold theirs. */
export async function renewRuns(runs: readonly Run[], store: JobStore): Promise<Run[]> {
  const [first] = runs;
  if (!first) return [];
  const sentAt = performance.now();
  const leases = runs.map(({ lease }) => lease);
  const ids = new Set((await store.renew(leases, first.plan.leaseMs)).map(({ jobId }) => jobId));
  const held = runs.filter(({ lease }) => ids.has(lease.jobId));
  for (const run of held) run.renewed(sentAt);
  return held;
}

/** withReruns runs an attempt, and again at once after a serialization failure, a bounded number of times, each on a renewed lease (R9). */
export async function withReruns(run: Run, tools: ExecutionTools, attempt: () => Promise<AttemptEnd>): Promise<RunEnd> {
  for (let rerun = 1; ; rerun += 1) {
    const end = await attempt();
    if (end.type !== 'rerun') return end;
    if (run.stoppedBy) return tools.judge.stopped(run, run.stoppedBy);
    if (rerun > MAX_RERUNS) return tools.judge.failed(run, end.error);
    try {
      if (!(await renewRun(run, tools.store))) return { type: 'lost', error: new LeaseLostError(run.ref.id) };
    } catch {
      return tools.judge.failed(run, end.error);
    }
    tools.reporter.report({ type: 'job.rerun', error: end.error, rerun, run: run.ref });
  }
}

/** untilAborted answers what the promise answers, or rejects with the signal's reason, whichever is first. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const aborted = () => reject(signal.reason as Error);
    if (signal.aborted) aborted();
    signal.addEventListener('abort', aborted, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}
