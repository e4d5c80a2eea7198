import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Database, outsideTransactions, StartStop } from '@holdfast/kernel';
import { InvalidRunnerOptionsError } from '../errors/invalid-runner-options.error.js';
import { QueueClosedError } from '../errors/queue-closed.error.js';
import type { JobHandlerRegistry } from '../handlers/job-handler.registry.js';
import type { JobInterceptorRegistry } from '../handlers/job-interceptor.registry.js';
import { EventStream } from '../ports/event.stream.js';
import type { JobStore } from '../ports/job-store.js';
import type { Reporter } from '../ports/reporter.js';
import type { RunnerRoster } from '../ports/runner.roster.js';
import type { RunnerVitals } from '../ports/runner.vitals.js';
import type { Waking } from '../ports/waking.js';
import { planConnections } from './connection.plan.js';
import { Crew, type DrainResult } from './crew.js';
import { checkBatches, narrowBatches, planKind, type KindPlan } from './kind.plan.js';
import { PresenceKeeper } from './presence.keeper.js';
import { resolveRunnerOptions, type ResolvedRunnerOptions, type RunnerOptions } from './runner.options.js';
import { StageGuard } from './stage.guard.js';

/** RunnerParts are what a runner is composed of. */
export interface RunnerParts {
  /** connections that the rest of the queue holds in this process, by what they carry, for the sum at the start (R19). Default none. */
  readonly connections?: Readonly<Record<string, number>>;
  /** database is the application's own: attached runs and `ctx.finish` open their transactions there. */
  readonly database: Database;
  /** interceptors stand around every handler call (R20). Default none. */
  readonly interceptors?: JobInterceptorRegistry;
  readonly options?: RunnerOptions;
  readonly registry: JobHandlerRegistry;
  /** reporter is told what the runner does. Default nobody; `events` tells it too. */
  readonly reporter?: Reporter;
  /** roster is told that this runner is there, and what it runs (S6). Default nobody. */
  readonly roster?: RunnerRoster;
  /** store keeps the jobs. Whoever made it closes it, after the runner has stopped. */
  readonly store: JobStore;
  /** waking brings word of what others commit (Q10). Default nobody does: it polls. */
  readonly waking?: Waking | undefined;
}

/**
 * Runner runs the jobs of the kinds that have a handler here. It needs no framework: give it its parts, start it, and drain it at the end.
 *
 * `start` checks everything that can be checked and throws what is wrong; from then on nothing that happens in the database or in a handler ends it.
 * `drain` claims nothing more, lets running jobs end within the grace period, then aborts them and gives their jobs back with the attempt (R17).
 */
export class Runner {
  /** events hands on everything that happens, in order. */
  readonly events = new EventStream();
  private closed = false;
  private crew: Crew | undefined;
  private readonly options: ResolvedRunnerOptions;
  private presence: PresenceKeeper | undefined;
  private readonly service = new StartStop({ start: () => this.begin(), stop: () => this.end() });

  /** Throws InvalidRunnerOptionsError with every problem of the options at once. */
  constructor(private readonly parts: RunnerParts) {
    this.options = resolveRunnerOptions(parts.options ?? {}, `${hostname()}:${process.pid}`);
  }

  /** running is how many slots are taken. */
  get running(): number {
    return this.crew?.running ?? 0;
  }

  /** vitals tell whether it can work, from what its loop does (H1). */
  get vitals(): RunnerVitals {
    if (this.crew) {
      const { waking } = this.parts;
      return waking ? { ...this.crew.vitals, waking: waking.vitals } : this.crew.vitals;
    }
    const { pollMs, slots } = this.options;
    const never = { lastPassAt: undefined, lastStepAt: performance.now(), startedAt: undefined };
    return {
      ...never,
      kinds: [],
      paused: [],
      pollMs,
      running: 0,
      runningByKind: {},
      slots,
      state: 'idle',
      troubles: [],
    };
  }

  /** close stops it for good: a start that comes later rejects with QueueClosedError. Idempotent. */
  close(): Promise<void> {
    this.closed = true;
    return this.service.stop();
  }

  /** drain claims nothing more and waits for the running jobs, within the grace period and not much longer. Idempotent. */
  async drain(): Promise<DrainResult> {
    return (await this.crew?.drain()) ?? { abandoned: 0, givenBack: 0 };
  }

  /** enqueued says that this process has committed requests for jobs: they are looked for soon, without waiting for the poll. */
  enqueued(): void {
    this.crew?.enqueued();
  }

  /**
   * start begins to look for work. Idempotent. Throws InvalidRunnerOptionsError when no kind is left to run, InvalidInterceptorError for one that cannot stand around batches, PoolTooSmallError with the sum when
   * the application's pool cannot carry the slots (R19), and QueueClosedError after a `close`.
   */
  start(): Promise<void> {
    return this.service.start();
  }

  /** stop drains and ends everything. Idempotent; a runner that was stopped can be started again. */
  stop(): Promise<void> {
    return this.service.stop();
  }

  /** wake looks for work now: something may have become due. */
  wake(): void {
    this.crew?.wake();
  }

  private begin(): void {
    if (this.closed) throw new QueueClosedError();
    const { database, registry, reporter, store, waking } = this.parts;
    const plans = this.plan();
    const { roles, warnings } = planConnections(database, store, plans, this.options.slots);
    const crew = new Crew(
      {
        database,
        idle: waking && ((kinds) => waking.idle(kinds)),
        knownKinds: registry.kinds,
        plans,
        reporter: this.reporterTo(reporter),
        store,
      },
      this.options,
    );
    this.crew = crew;
    const kinds = plans.map(({ kind }) => kind);
    this.presence = this.presenceOf(kinds);
    const others = Object.entries({ ...this.parts.connections, ...waking?.connections }).map(([role, count]) => ({
      connections: count,
      role,
    }));
    crew.tell({
      type: 'runner.started',
      connections: [...roles, ...others],
      kinds,
      slots: this.options.slots,
      warnings: [...warnings, ...registry.warnings, ...this.unmet(), ...narrowBatches(plans)],
    });
    // What the loop starts outlives whoever called, also a unit of work.
    outsideTransactions(() => {
      crew.start();
      this.presence?.start();
      waking?.start({
        listening: () => crew.tell({ type: 'waking.listening' }),
        lost: (error) => crew.tell({ type: 'waking.lost', error }),
        wake: () => crew.notified(),
      });
    });
  }

  private async end(): Promise<void> {
    const { crew } = this;
    await crew?.stop();
    await Promise.all([this.presence?.stop(), this.parts.waking?.stop()]);
    crew?.tell({ type: 'runner.stopped' });
  }

  private plan(): KindPlan[] {
    const { interceptors, registry } = this.parts;
    const kinds = registry.kinds.filter(this.options.handles);
    if (kinds.length === 0) throw new InvalidRunnerOptionsError(['no kind that it may run has a handler here']);
    const plans = kinds.map((kind) => planKind(registry.find(kind)!, this.options, interceptors?.around(kind)));
    plans.forEach(checkBatches);
    return plans;
  }

  private presenceOf(kinds: readonly string[]): PresenceKeeper | undefined {
    const { registry, reporter, roster } = this.parts;
    const presence = { id: randomUUID(), kinds, owner: this.options.owner };
    const retentions = kinds.map((kind) => ({ keep: registry.find(kind)!.definition.retention, kind }));
    return roster && new PresenceKeeper(roster, presence, retentions, new StageGuard(this.reporterTo(reporter)));
  }

  /** unmet answers a warning for each option that names kinds without a handler here: mostly a kind that was renamed, or misspelt. */
  private unmet(): string[] {
    const { options, registry } = this.parts;
    const { except = [], kinds = {}, only = [] } = options ?? {};
    const named = { 'kinds changes': Object.keys(kinds), 'run.except leaves out': except, 'run.only names': only };
    return Object.entries(named).flatMap(([option, given]) => {
      const unknown = given.filter((kind) => !registry.find(kind));
      return unknown.length === 0 ? [] : [`The option ${option} kinds without a handler here: ${unknown.join(', ')}.`];
    });
  }

  private reporterTo(reporter: Reporter | undefined): Reporter {
    return {
      report: (event) => {
        this.events.report(event);
        try {
          reporter?.report(event);
        } catch {
          // A reporter must not be able to change what the runner does.
        }
      },
    };
  }
}
