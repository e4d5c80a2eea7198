import { hostname } from 'node:os';
import { outsideTransactions, StartStop, withDeadline } from '@holdfast/kernel';
import { QueueClosedError } from '../errors/queue-closed.error.js';
import { UnknownDutyError } from '../errors/unknown-duty.error.js';
import { DEFAULT_RETENTION, type Retention } from '../domain/retention.js';
import type { Duty, DutyRun } from '../ports/duty.js';
import type { DutyLedger } from '../ports/duty.ledger.js';
import { EventStream } from '../ports/event.stream.js';
import type { Housekeeping } from '../ports/housekeeping.js';
import type { JobStore } from '../ports/job-store.js';
import type { Leadership } from '../ports/leadership.js';
import type { QueueEvent } from '../ports/queue.events.js';
import type { Reporter } from '../ports/reporter.js';
import type { RunnerRoster } from '../ports/runner.roster.js';
import { DepthDuty } from './duties/depth.duty.js';
import { PostgresHealthDuty } from './duties/postgres-health.duty.js';
import { RetentionDuty } from './duties/retention.duty.js';
import { UnhandledKindsDuty } from './duties/unhandled-kinds.duty.js';
import type { DutyRegistry } from './duty.registry.js';
import { DutyTurn } from './duty.turn.js';
import { LeaderSeat } from './leader.seat.js';
import { resolveSchedulerOptions, type ResolvedSchedulerOptions, type SchedulerOptions } from './scheduler.options.js';
import type { SchedulerVitals } from './scheduler.vitals.js';
import { TickLoop } from './tick.loop.js';

/** DEPTH, HEALTH, RETENTION and UNHANDLED are the names of the duties that every scheduler has. */
export const DEPTH = 'queue.depth';
export const HEALTH = 'queue.postgres_health';
export const RETENTION = 'queue.retention';
export const UNHANDLED = 'queue.unhandled_kinds';

const OWN_SOURCE = 'Holdfast itself';
const OWN_DEADLINE_MS = 30_000;
/** What a stop waits, beside `stopWaitMs`, for the end of a duty to be written down. */
const RECORD_WITHIN_MS = 5_000;

/** SchedulerParts are what a scheduler is composed of. */
export interface SchedulerParts {
  /** housekeeping removes what has been kept for long enough (S5). */
  readonly housekeeping: Housekeeping;
  /** kinds that have a handler in this process: their depth is reported at zero too (S2). */
  readonly kinds: () => readonly string[];
  /** leadership decides who acts. Whoever made it closes it, after the scheduler has stopped. */
  readonly leadership: Leadership;
  readonly ledger: DutyLedger;
  readonly options?: SchedulerOptions;
  readonly registry: DutyRegistry;
  /** reporter is told what the scheduler does. Default nobody; `events` tells it too. */
  readonly reporter?: Reporter;
  /** retention is how long finished jobs are kept, where their definition says nothing (S5). Default 1 day for those that succeeded, 14 for the others. */
  readonly retention?: Retention;
  readonly roster: RunnerRoster;
  readonly store: JobStore;
}

/** OwnDuty is one of Holdfast's: it lets go of what it knows when another process leads. */
interface OwnDuty {
  forget(): void;
  run: Duty;
}

/** Life is what a scheduler has from its start to its stop. */
interface Life {
  readonly loop: TickLoop;
  readonly seat: LeaderSeat;
  readonly startedAt: number;
}

/**
 * Scheduler runs the duties of the leader: in one of all processes that have one, whoever leads (S1–S3, S6). It needs no framework.
 *
 * Each ticks at once and then every `tick`: the leader proves itself, the others look whether the place is free. What is due then runs in the leader, one
 * duty after another. Nothing that happens in the database or in a duty ends it; `stop` does, and gives leadership up, so that the next tick of another
 * process takes it.
 */
export class Scheduler {
  /** events hands on everything that happens, in order. */
  readonly events = new EventStream();
  private closed = false;
  private readonly hung = new Set<string>();
  private life: Life | undefined;
  private readonly options: ResolvedSchedulerOptions;
  private readonly reporter: Reporter = { report: (event) => this.tell(event) };
  private readonly service = new StartStop({ start: () => this.begin(), stop: () => this.end() });
  private readonly own: readonly OwnDuty[];

  /** Throws InvalidSchedulerOptionsError with every problem of the options at once, DuplicateDutyError for a duty with the name of one of Holdfast's. */
  constructor(private readonly parts: SchedulerParts) {
    const { housekeeping, kinds, ledger, options = {}, registry, retention = DEFAULT_RETENTION, roster, store } = parts;
    this.options = resolveSchedulerOptions(options, `${hostname()}:${process.pid}`);
    const { depthMs, healthMs, retentionMs, unhandledMs } = this.options;
    const sweep = () => ledger.sweep(registry.entries.map(({ name }) => name));
    this.own = [
      this.registerOwn(DEPTH, depthMs, new DepthDuty(store, roster, housekeeping, this.reporter, kinds)),
      this.registerOwn(HEALTH, healthMs, new PostgresHealthDuty(housekeeping, this.reporter)),
      this.registerOwn(RETENTION, retentionMs, new RetentionDuty(housekeeping, this.reporter, retention)),
      this.registerOwn(UNHANDLED, unhandledMs, new UnhandledKindsDuty(roster, this.reporter, sweep)),
    ];
  }

  /** isLeader tells whether this process leads, within the belief deadline. */
  get isLeader(): boolean {
    return this.life?.seat.isLeader ?? false;
  }

  /** vitals are its signs of life (H1). */
  get vitals(): SchedulerVitals {
    const { life } = this;
    const { lastError, lastStepAt, lastTickAt, leaderSeenAt } = life?.loop.signs ?? {};
    const { isLeader, options } = this;
    const startedAt = life?.startedAt;
    return { isLeader, lastError, lastStepAt, lastTickAt, leaderSeenAt, startedAt, tickMs: options.tickMs };
  }

  /** close stops it for good: a start that comes later rejects with QueueClosedError. Idempotent. */
  close(): Promise<void> {
    this.closed = true;
    return this.service.stop();
  }

  /** lastRuns answers the last run of each duty that ever ran, by whichever process, in order of their names; it reads the table. */
  lastRuns(): Promise<DutyRun[]> {
    return this.parts.ledger.lastRuns();
  }

  /**
   * runNow makes a duty due now, in any process: the leader starts it at once where it is this one, else at its next tick. It resolves when that is
   * written down; `lastRuns`, or `duty.done` of `events`, tells the end. Throws UnknownDutyError for a name that is not here and never ran.
   */
  async runNow(name: string): Promise<void> {
    const { ledger, registry } = this.parts;
    const asked = await ledger.ask(name);
    if (!asked && !registry.find(name))
      throw new UnknownDutyError(
        name,
        registry.entries.map((entry) => entry.name),
      );
    this.life?.loop.wake();
  }

  /** start begins to tick. Idempotent. Throws what Leadership.candidate throws: DuplicateCandidateError for a second scheduler on one Leadership (K107), and QueueClosedError after a `close`. */
  start(): Promise<void> {
    return this.service.start();
  }

  /** stop aborts the running duty, waits a bounded time for it, and gives leadership up. Idempotent; a scheduler that was stopped can be started again. */
  stop(): Promise<void> {
    return this.service.stop();
  }

  private begin(): void {
    if (this.closed) throw new QueueClosedError();
    const { leadership, ledger, registry } = this.parts;
    const { hung, options, reporter } = this;
    const { tickMs } = options;
    const seat: LeaderSeat = new LeaderSeat(leadership, tickMs, reporter, (reason) => {
      turn.abort(reason);
      this.forget();
    });
    const turn: DutyTurn = new DutyTurn({ hung, ledger, options, registry, reporter, seat }, () => loop.wake());
    const loop: TickLoop = new TickLoop({ ledger, reporter, seat, tickMs, turn });
    registry.seal();
    this.life = { loop, seat, startedAt: performance.now() };
    const connections = Object.entries(leadership.connections).map(([role, count]) => ({ connections: count, role }));
    this.tell({
      type: 'scheduler.started',
      connections,
      duties: registry.entries.map(({ name }) => name),
      tickMs,
      warnings: registry.warnings,
    });
    // What the loop starts outlives whoever called, also a unit of work.
    outsideTransactions(() => loop.start());
  }

  private async end(): Promise<void> {
    const { life } = this;
    if (life) await this.endLife(life);
    this.life = undefined;
    this.forget();
    if (life) this.tell({ type: 'scheduler.stopped', abandoned: [...this.hung] });
  }

  /** Whatever still waits for a server that does not answer, for up to a tick, is ended by giving leadership up (R17). */
  private async endLife({ loop, seat }: Life): Promise<void> {
    const late = () => new Error('late');
    await withDeadline(loop.stop(), this.options.stopWaitMs + RECORD_WITHIN_MS, late).catch(() => undefined);
    await seat.leave();
    await loop.stop();
    await loop.ended;
  }

  private forget(): void {
    for (const duty of this.own) duty.forget();
  }

  private registerOwn(name: string, everyMs: number, duty: OwnDuty): OwnDuty {
    this.parts.registry.register({
      deadlineMs: OWN_DEADLINE_MS,
      everyMs,
      identity: duty,
      name,
      run: (ctx) => duty.run(ctx),
      source: OWN_SOURCE,
    });
    return duty;
  }

  private tell(event: QueueEvent): void {
    this.events.report(event);
    try {
      this.parts.reporter?.report(event);
    } catch {
      // A reporter must not be able to change what the scheduler does.
    }
  }
}
