import { randomUUID } from 'node:crypto';
import { codeOf, describeClass } from '../domain/error.summary.js';
import { DutyStoppedError } from '../errors/duty-stopped.error.js';
import type { DutyLedger } from '../ports/duty.ledger.js';
import type { Reporter } from '../ports/reporter.js';
import { type AttemptEnd, DutyAttempt } from './duty.attempt.js';
import type { DutyEntry, DutyRegistry } from './duty.registry.js';
import type { LeaderSeat } from './leader.seat.js';
import type { ResolvedSchedulerOptions } from './scheduler.options.js';

const RECORD_WITHIN_MS = 5_000;
/** The code of a failure that brings none of its own. */
const DUTY_FAILED = 'queue.duty_failed';
const LONGEST_RETRY_MS = 3_600_000;

/** DutyTurnParts are what a turn works with. */
export interface DutyTurnParts {
  /** hung are the duties that have not returned yet, also from an earlier life of the scheduler: they are not started again. */
  readonly hung: Set<string>;
  readonly ledger: DutyLedger;
  readonly options: ResolvedSchedulerOptions;
  readonly registry: DutyRegistry;
  readonly reporter: Reporter;
  readonly seat: LeaderSeat;
}

/**
 * DutyTurn runs the duties that are due, one after another (S3). Each is written down through the leader's connection before it is started and when it has
 * ended. One that goes on after its deadline is left behind: the next has its turn, and it is not started again before it has returned.
 */
export class DutyTurn {
  /** nextAt is when something is due next, by the monotonic clock, as far as this process knows. */
  nextAt = Infinity;
  private current: DutyAttempt | undefined;
  private stopped = false;

  constructor(
    private readonly parts: DutyTurnParts,
    /** wake is called when a duty that was left behind has returned. */
    private readonly wake: () => void,
  ) {}

  /** abort tells the running duty to stop. */
  abort(reason: Error): void {
    this.current?.abort(reason);
  }

  /** run runs what is due, and rejects when it cannot find out or write down that something begins. One at a time. */
  async run(): Promise<void> {
    const { hung, ledger, registry, seat } = this.parts;
    this.nextAt = Infinity;
    const entries = registry.entries.filter(({ name }) => !hung.has(name));
    const { due, nextInMs } = await ledger.due(entries);
    if (nextInMs !== undefined) this.dueIn(nextInMs);
    for (const name of due) {
      if (this.stopped || !seat.isLeader) return;
      await this.runOne(registry.find(name)!);
    }
  }

  /** stop starts nothing any more and tells the running duty to stop. */
  stop(): void {
    this.stopped = true;
    const { current } = this;
    current?.abort(new DutyStoppedError(current.entry.name), this.parts.options.stopWaitMs);
  }

  private dueIn(ms: number): void {
    this.nextAt = Math.min(this.nextAt, performance.now() + Math.max(1, Math.ceil(ms)));
  }

  private leaveBehind(attempt: DutyAttempt): void {
    const { hung, reporter } = this.parts;
    const { name } = attempt.entry;
    hung.add(name);
    reporter.report({ type: 'duty.overrun', name, overMs: attempt.overMs, returned: false });
    void attempt.returned.then(() => {
      hung.delete(name);
      reporter.report({ type: 'duty.overrun', name, overMs: attempt.overMs, returned: true });
      this.nextAt = 0;
      this.wake();
    });
  }

  private async record(
    { name }: DutyEntry,
    run: string,
    failure: { class: string; code: string; retryMs: number } | undefined,
  ): Promise<void> {
    const { ledger, reporter, seat } = this.parts;
    try {
      const write = seat.candidate.transaction((executor) => ledger.end(executor, { failure, name, run }), {
        deadlineMs: RECORD_WITHIN_MS,
      });
      await write;
    } catch (error) {
      reporter.report({ type: 'duty.unrecorded', error, name });
    }
  }

  /** retryMs: after a tick, twice as long each time, an hour at most, and never later than it would be due anyway. */
  private retryMs({ everyMs }: DutyEntry, failures: number, error: unknown): number {
    if (error instanceof DutyStoppedError) return 0;
    const { tickMs } = this.parts.options;
    return Math.min(everyMs, Math.max(tickMs, LONGEST_RETRY_MS), tickMs * 2 ** Math.min(failures - 1, 20));
  }

  private async runOne(entry: DutyEntry): Promise<void> {
    const { ledger, options, reporter, seat } = this.parts;
    const run = randomUUID();
    const { candidate } = seat;
    const started = await candidate.transaction((executor) => ledger.start(executor, entry, run, options.owner), {
      deadlineMs: RECORD_WITHIN_MS,
    });
    if (!started) return;
    if (this.stopped || !seat.isLeader) {
      // Written down and not begun: the stop came, or the belief ran out. Where this process still leads it says so.
      const error = new DutyStoppedError(entry.name);
      return this.record(entry, run, { class: describeClass(error), code: error.code, retryMs: 0 });
    }
    const startedAt = performance.now();
    const { abortWaitMs } = options;
    const attempt = new DutyAttempt(entry, { abortWaitMs, candidate, lastStartedAt: started.lastStartedAt });
    this.current = attempt;
    reporter.report({ type: 'duty.started', name: entry.name });
    const end = await attempt.run();
    this.current = undefined;
    await this.settle(attempt, run, end, { failures: started.failures + 1, ranMs: performance.now() - startedAt });
  }

  private async settle(
    attempt: DutyAttempt,
    run: string,
    end: AttemptEnd,
    { failures, ranMs }: { failures: number; ranMs: number },
  ): Promise<void> {
    const { reporter } = this.parts;
    const { entry } = attempt;
    if (end.type === 'done') {
      await this.record(entry, run, undefined);
      this.dueIn(entry.everyMs - ranMs);
      reporter.report({ type: 'duty.done', name: entry.name, ranMs });
      return;
    }
    const { error } = end;
    const code = codeOf(error) ?? DUTY_FAILED;
    const retryMs = this.retryMs(entry, failures, error);
    if (!end.returned) this.leaveBehind(attempt);
    await this.record(entry, run, { class: describeClass(error), code, retryMs });
    if (end.returned) this.dueIn(retryMs);
    reporter.report({ type: 'duty.failed', code, error, failures, name: entry.name, ranMs, retryMs });
  }
}
