import { type Database, pause, startTimer } from '@holdfast/kernel';
import { RunStoppedError } from '../errors/run-stopped.error.js';
import type { JobStore } from '../ports/job-store.js';
import { endingsOf } from '../domain/on-end.js';
import type { Reporter } from '../ports/reporter.js';
import type { RunnerEvent } from '../ports/runner.events.js';
import type { RunnerVitals } from '../ports/runner.vitals.js';
import { AttachedExecution } from './attached.execution.js';
import { BatchExecution } from './batch.execution.js';
import { CancelWatch } from './cancel.watch.js';
import { ClaimLoop } from './claim.loop.js';
import { type Claimed, Claimer } from './claimer.js';
import { DetachedExecution } from './detached.execution.js';
import type { Execution, ExecutionTools } from './execution.js';
import { FailureJudge } from './failure.judge.js';
import { GroupExecution, type SharedExecution } from './group.execution.js';
import { type GroupedPlan, isGrouped, type KindPlan } from './kind.plan.js';
import { KindSlots } from './kind.slots.js';
import { LeaseKeeper } from './lease.keeper.js';
import { PauseWatch } from './pause.watch.js';
import { ProgressKeeper } from './progress.keeper.js';
import { Run } from './run.js';
import type { RunEnd } from './run.end.js';
import type { ResolvedRunnerOptions } from './runner.options.js';
import { SettlementBatch } from './settlement.batch.js';
import { SettlementRecorder } from './settlement.js';
import { StageGuard } from './stage.guard.js';
import { SuspectTurn } from './suspect.turn.js';

/** CrewParts are what a crew works with. */
export interface CrewParts {
  readonly database: Database;
  /** idle is told for which kinds a wake is wanted. Default nobody. */
  readonly idle?: ((kinds: readonly string[]) => void) | undefined;
  /** knownKinds have a handler here, also those that this runner leaves out. */
  readonly knownKinds: readonly string[];
  readonly plans: readonly KindPlan[];
  readonly reporter: Reporter;
  readonly store: JobStore;
}

/** DrainResult is how a drain ended. */
export interface DrainResult {
  /** abandoned handlers had not returned when the drain ended: their jobs are free, their process should end. */
  readonly abandoned: number;
  /** givenBack jobs were aborted and are PENDING again with their attempt. */
  readonly givenBack: number;
}

/** What a drain allows, after the grace period, for rolling back and for giving jobs back. */
const GIVE_BACK_WITHIN_MS = 5_000;
/** A look for cancels that failed is tried again no later than this, however often it fails. */
const CANCELS_WITHIN_MS = 2_000;

/** Crew is one life of a runner, from its start to its stop: its loop, its runs, its leases. */
export class Crew {
  private readonly cancels: CancelWatch;
  private draining: Promise<DrainResult> | undefined;
  private givenBack = 0;
  private readonly groups: ReadonlyMap<string, SharedExecution>;
  private readonly keeper: LeaseKeeper;
  private readonly loop: ClaimLoop;
  private readonly pauses: PauseWatch;
  private readonly plans: ReadonlyMap<string, KindPlan>;
  private readonly recorder: SettlementRecorder;
  /** runs are in this process until their handler has returned; recording are not recorded yet. */
  private readonly runs = new Map<Run, Promise<void>>();
  private readonly recording = new Set<Promise<void>>();
  private readonly slots: KindSlots;
  private startedAt: number | undefined;
  private stopped = false;
  private readonly tools: ExecutionTools;

  constructor(
    private readonly parts: CrewParts,
    private readonly options: ResolvedRunnerOptions,
  ) {
    const { database, knownKinds, plans, reporter, store } = parts;
    const claimer = new Claimer(store, reporter, options.owner);
    const kinds = { all: knownKinds, run: plans.map(({ kind }) => kind) };
    this.cancels = new CancelWatch(store, new StageGuard(reporter, CANCELS_WITHIN_MS), options.cancelEveryMs);
    this.keeper = new LeaseKeeper(store, reporter, options.leases.detachedMs);
    this.pauses = new PauseWatch(store, kinds.run, reporter);
    this.plans = new Map(plans.map((plan) => [plan.kind, plan]));
    this.recorder = new SettlementRecorder(store, new SettlementBatch(store), reporter);
    this.slots = new KindSlots(options.slots, plans);
    const progress = new ProgressKeeper(store, new StageGuard(reporter));
    this.tools = { database, judge: new FailureJudge(options), options, progress, reporter, store };
    this.groups = new Map(
      plans.filter(isGrouped).map((plan) => [plan.kind, sharedExecution(plan, this.tools)] as const),
    );
    this.loop = new ClaimLoop({
      claimer,
      endings: plans.flatMap(({ entry }) => endingsOf(entry.definition)),
      guard: new StageGuard(reporter),
      idle: parts.idle ?? (() => undefined),
      intakeGapMs: options.intakeGapMs,
      kinds,
      pauses: this.pauses,
      pollMs: options.pollMs,
      reporter,
      slots: this.slots,
      start: (claimed) => this.take(claimed),
      store,
      suspects: new SuspectTurn(store, claimer, reporter, this.slots, kinds.run, options.quiesceMs),
    });
  }

  get running(): number {
    return this.slots.running;
  }

  get vitals(): RunnerVitals {
    const { loop, slots, startedAt } = this;
    const { pollMs, slots: places } = this.options;
    const { lastPassAt, lastStepAt, troubles } = loop;
    const ended = this.stopped ? 'stopped' : 'draining';
    const state = this.draining ? ended : startedAt === undefined ? 'idle' : 'running';
    const kinds = [...this.plans.keys()];
    const { running, runningOfKinds: runningByKind } = slots;
    const { paused } = this.pauses;
    const signs = { lastPassAt, lastStepAt, startedAt, state, troubles } as const;
    return { ...signs, kinds, paused, pollMs, running, runningByKind, slots: places };
  }

  enqueued(): void {
    this.loop.enqueued();
  }

  drain(): Promise<DrainResult> {
    this.draining ??= this.drainNow();
    return this.draining;
  }

  notified(): void {
    this.loop.notified();
  }

  start(): void {
    this.startedAt = performance.now();
    this.keeper.start();
    this.loop.start();
  }

  async stop(): Promise<void> {
    await this.drain();
    this.stopped = true;
    this.keeper.stop();
    this.cancels.stop();
    this.tools.progress.stop();
  }

  tell(event: RunnerEvent): void {
    this.parts.reporter.report(event);
  }

  wake(): void {
    this.loop.wake();
  }

  private async drainNow(): Promise<DrainResult> {
    const { abortWaitMs, graceMs } = this.options;
    this.tell({ type: 'runner.draining', graceMs, running: this.running });
    const stopped = this.loop.stop();
    this.parts.idle?.([]);
    for (const group of this.groups.values()) group.close();
    const idle = stopped.then(() => this.idle());
    if (!(await endsWithin(idle, graceMs))) {
      for (const run of this.runs.keys()) run.abort(new RunStoppedError());
      // What a claim without an answer still brings goes back, too.
      const recorded = stopped.then(() => this.recorded());
      // A handler that has returned frees its slot in the same turn of the event loop; who has not by then is left behind.
      const free = recorded.then(() => new Promise((resolve) => setImmediate(resolve)));
      await endsWithin(Promise.race([idle, free]), abortWaitMs + GIVE_BACK_WITHIN_MS);
    }
    this.recorder.end();
    const abandoned = [...this.runs.keys()].filter((run) => run.isInHandler).length;
    const result = { abandoned, givenBack: this.givenBack };
    this.tell({ type: 'runner.drained', ...result });
    return result;
  }

  private async execute(run: Run): Promise<void> {
    let end: RunEnd;
    try {
      end = await this.executionOf(run).execute(run);
    } catch (error) {
      end = this.tools.judge.failed(run, error);
    }
    run.settled = true;
    this.cancels.remove(run);
    if (end.type === 'record' && end.settlement.verb === 'giveBack') this.givenBack += 1;
    await this.recorder.record(run, end);
    const ended = end.type === 'committed' ? end.completion : end.type === 'record' ? end.settlement : undefined;
    if (ended && 'delayMs' in ended) this.loop.dueIn(ended.delayMs);
    this.keeper.remove(run);
  }

  private executionOf({ plan }: Run): Execution {
    const group = this.groups.get(plan.kind);
    if (group) return group;
    return plan.entry.mode === 'attached'
      ? new AttachedExecution(this.tools)
      : new DetachedExecution(this.tools, this.keeper);
  }

  /** idle resolves when nothing runs any more. */
  private async idle(): Promise<void> {
    while (this.runs.size > 0) await Promise.all(this.runs.values());
  }

  /** recorded resolves when the end of every run has been recorded, whether or not its handler has returned. */
  private async recorded(): Promise<void> {
    while (this.recording.size > 0) await Promise.all(this.recording);
  }

  /** life is a run from its claim until its handler has returned and its end has been recorded: that long its slot is taken (R6). */
  private async life(run: Run): Promise<void> {
    const watch = this.watchOverrun(run);
    this.cancels.add(run);
    const recording = this.execute(run);
    this.recording.add(recording);
    await recording.finally(() => this.recording.delete(recording));
    await run.returned;
    watch.end();
    this.runs.delete(run);
    this.slots.release(run.ref.kind);
    this.loop.freed();
  }

  private take({ jobs, sentAt }: Claimed): void {
    for (const job of jobs) {
      const plan = this.plans.get(job.kind);
      if (!plan) continue;
      const run = new Run(job, plan, sentAt);
      this.slots.take(job.kind);
      if (this.draining) run.abort(new RunStoppedError());
      else this.tell({ type: 'job.started', run: run.ref, waitedMs: job.waitedMs });
      this.runs.set(run, this.life(run));
    }
  }

  /** watchOverrun tells of a handler that goes on after its abort, and when it has returned after all (R6). */
  private watchOverrun(run: Run): { end: () => void } {
    let abortedAt: number | undefined;
    let told = false;
    const tell = (returned: boolean) => {
      if (abortedAt === undefined) return;
      told = true;
      this.tell({ type: 'job.overrun', overMs: performance.now() - abortedAt, returned, run: run.ref });
    };
    let timer: { clear(): void } | undefined;
    const aborted = () => {
      abortedAt = performance.now();
      timer = startTimer(this.options.overrunMs, () => tell(false), { unref: true });
    };
    run.signal.addEventListener('abort', aborted, { once: true });
    return {
      end: () => {
        run.signal.removeEventListener('abort', aborted);
        timer?.clear();
        if (told) tell(true);
      },
    };
  }
}

function sharedExecution(plan: GroupedPlan, tools: ExecutionTools): SharedExecution {
  return plan.entry.mode === 'batch' ? new BatchExecution(plan, tools) : new GroupExecution(plan, tools);
}

/** endsWithin answers whether `work`, which never rejects, ends in that time. */
async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const over = new AbortController();
  let ended = false;
  void work.then(() => {
    ended = true;
    over.abort();
  });
  await pause(ms, over.signal);
  return ended;
}
